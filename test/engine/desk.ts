/** Desk, the actor of most tests: it notes, sends messages, broadcasts, answers, and throws on request. */
import { type AnyEventObject, assign, emit, setup } from 'xstate';
import type { ErrorCode } from '../../machines/kit/error-table.js';
import { hostActions, type MessageParams, type Stamped } from '../../machines/kit/host.js';
import type { ActorKind } from '../../src/engine/effects/effects.js';

interface DeskContext {
  name: string;
  /** Notes in the order of arrival. */
  notes: Noted[];
}

type Noted = string | number | bigint | null;

interface Said {
  type: 'said';
  text: Noted;
}

type DeskEvent = (
  | { type: 'note'; text: Noted }
  | { type: 'tell'; messages: MessageParams[] }
  | { type: 'say'; text: string }
  | { type: 'sayBoth'; texts: [string, string] }
  | { type: 'read' }
  | { type: 'refuse'; code: ErrorCode }
  | { type: 'breakAction' }
  | { type: 'breakGuard' }
  /** Makes its context, an answer, a message or a broadcast one that JSON cannot hold. */
  | { type: 'swell'; what: 'context' | 'answer' | 'message' | 'broadcast' }
  | { type: 'close'; tell?: MessageParams[] }
) &
  Stamped;

const swollen = (what: string, event: DeskEvent): boolean => event.type === 'swell' && event.what === what;

export const deskMachine = setup({
  types: {} as { context: DeskContext; events: DeskEvent; input: { name: string }; emitted: Said },
  guards: {
    isBroken: (): boolean => {
      throw new Error('the guard broke');
    },
    swells: ({ event }, what: string) => swollen(what, event),
  },
  actions: {
    ...hostActions,
    note: assign(({ context }, text: Noted) => ({ notes: [...context.notes, text] })),
    say: emit((_, text: Noted) => ({ type: 'said' as const, text })),
    swell: assign({ notes: [10n] }),
    throwUp: assign(() => {
      throw new Error('the action broke');
    }),
  },
}).createMachine({
  id: 'desk',
  version: '1',
  context: ({ input }) => ({ name: input.name, notes: [] }),
  initial: 'open',
  states: {
    open: {
      on: {
        note: { actions: { type: 'note', params: ({ event }) => event.text } },
        tell: { actions: { type: 'messages', params: ({ event }) => event.messages } },
        say: { actions: { type: 'say', params: ({ event }) => event.text } },
        sayBoth: {
          actions: [
            { type: 'say', params: ({ event }) => event.texts[0] },
            { type: 'say', params: ({ event }) => event.texts[1] },
          ],
        },
        read: { actions: { type: 'answer', params: ({ context }) => ({ value: context.notes }) } },
        refuse: {
          actions: [
            { type: 'note', params: 'refused' },
            {
              type: 'answer',
              params: ({ event }) => ({ error: { code: event.code, message: 'not today', final: true } }),
            },
          ],
        },
        breakAction: { actions: [{ type: 'note', params: 'never seen' }, 'throwUp'] },
        breakGuard: { guard: 'isBroken', actions: { type: 'note', params: 'never seen' } },
        swell: [
          { guard: { type: 'swells', params: 'context' }, actions: 'swell' },
          { guard: { type: 'swells', params: 'answer' }, actions: { type: 'answer', params: { value: 10n } } },
          {
            guard: { type: 'swells', params: 'message' },
            actions: { type: 'messages', params: [{ to: 'desk/b', event: { type: 'note', text: 10n } }] },
          },
          { actions: { type: 'say', params: 10n } },
        ],
        close: { target: 'closed', actions: { type: 'messages', params: ({ event }) => event.tell ?? [] } },
      },
    },
    closed: { type: 'final' },
  },
});

/** Topic of all desks. */
export const deskTopic = 'desks';

/** Desks that begin with their first event. */
export const deskKind: ActorKind = {
  machine: deskMachine,
  effects: {},
  begin: (address) => ({ name: address }),
  topic: () => deskTopic,
};

/** Desks that need an input to begin. */
export const orderedDeskKind: ActorKind = { machine: deskMachine, effects: {}, topic: () => deskTopic };

export const note = (text: Noted): AnyEventObject => ({ type: 'note', text });
export const noteTo = (to: string, text: Noted): MessageParams => ({ to, event: note(text) });
export const tell = (...messages: MessageParams[]): AnyEventObject => ({ type: 'tell', messages });
export const say = (text: string): AnyEventObject => ({ type: 'say', text });
