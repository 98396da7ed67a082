/** Every state of an alloc with every event: what it becomes, what becomes of its volumes, and what is begun for it. */
import { expect } from 'chai';
import { initialTransition, type SnapshotFrom, type StateValue, transition } from 'xstate';
import { allocMachine } from '../../../machines/alloc/alloc.js';
import type { AllocContext, AllocEvent, AllocVolume, NamedStep } from '../../../machines/alloc/types.js';
import type { AllocMount } from '../../../machines/alloc/volume-steps.js';
import { stepOf, type VolumePart } from '../../../machines/alloc/volume-steps.js';

const volumes: AllocVolume[] = ['data', 'log'].map((name) => ({
  ...{ name, volume: { namespace: 'default', id: name }, mode: 'write', readOnly: false, taskPath: `/${name}` },
  ...{ accessMode: 'single-node-writer', attachmentMode: 'file-system' },
}));
const mountOf = (name: string): AllocMount => ({
  ...{ name, volume: { namespace: 'default', id: name }, hostPath: `/h/${name}`, taskPath: `/${name}` },
  ...{ readOnly: false, isDevice: false },
});
const failure = { code: 'CSI_ERROR' as const, message: 'no', final: true };
const each = (...types: Exclude<NamedStep['type'], 'volume.waits' | 'claim.refused'>[]): NamedStep[] =>
  ['data', 'log'].flatMap((name) =>
    types.map((type) => ({ name, type, generation: 7, mount: mountOf(name) }) as NamedStep),
  );

const givenBack = each('volume.unmounted', 'claim.released', 'slot.freed');

const done = (id: string, output: object) => ({ type: `xstate.done.actor.${id}`, output }) as unknown as AllocEvent;
const thrown = (id: string) =>
  ({
    type: `xstate.error.actor.${id}`,
    error: { code: 'LOST', message: 'lost', final: false },
  }) as unknown as AllocEvent;
const late = { type: 'xstate.after.untilLate.alloc.preparing.limited' } as unknown as AllocEvent;
const afterPause = (path: string) => ({ type: `xstate.after.backoff.alloc.${path}` }) as unknown as AllocEvent;

const events = {
  prepare: { type: 'alloc.prepare', volumes, untilMs: null, bootId: 'b2' },
  'prepare others': { type: 'alloc.prepare', volumes: volumes.slice(1), untilMs: null, bootId: 'b2' },
  release: { type: 'alloc.release' },
  forget: { type: 'alloc.forget' },
  abort: { type: 'alloc.abort', failure },
  recover: { type: 'alloc.recover', isNewBoot: false },
  'recover after a reboot': { type: 'alloc.recover', isNewBoot: true },
  'lose a claim': { type: 'alloc.lost', name: 'data', generation: 7, failure },
  'lose a claim of before': { type: 'alloc.lost', name: 'data', generation: 6, failure },
  late,
  prepared: done('prepareAlloc', { status: 'done', steps: each('volume.published', 'volume.mounted') }),
  'not prepared': done('prepareAlloc', { status: 'failed', failure, name: 'data' }),
  'prepare throws': thrown('prepareAlloc'),
  recovered: done('recoverAlloc', { status: 'done', steps: each('volume.mounted') }),
  'not recovered': done('recoverAlloc', { status: 'failed', failure, name: 'data' }),
  'recover throws': thrown('recoverAlloc'),
  given: done('releaseAlloc', { status: 'done', steps: givenBack }),
  freed: done('releaseAlloc', { status: 'done', steps: each('slot.freed') }),
  'release throws': thrown('releaseAlloc'),
  'recover pause over': afterPause('recovering.backing-off'),
  'release pause over': afterPause('releasing.asked-for.backing-off'),
  'undo pause over': afterPause('releasing.undoing.backing-off'),
} as const satisfies Record<string, AllocEvent>;

type EventName = keyof typeof events;

interface Row {
  value: StateValue;
  at: VolumePart['at'];
  /** Where it is not `failure: null`. */
  failed?: true;
  mounted?: true;
  /** Results that come too early, or again. */
  crashes?: EventName[];
  /** By event, where anything becomes of it: state, step of each volume, what is begun. */
  becomes: Partial<Record<EventName, [state: StateValue, steps: string, begun?: string | undefined, answer?: string]>>;
}

const working = { releasing: { 'asked-for': 'working' } };
const undoing = { releasing: { undoing: 'working' } };
const waiting = { recovering: 'awaiting-prepare' };
const leavingFor = (begun = 'releaseAlloc') => ({
  release: [working, 'unmounting, unmounting', begun] as [StateValue, string, string],
});
const undone: [StateValue, string, string] = [undoing, 'unmounting, unmounting', 'releaseAlloc'];

const rows: Record<string, Row> = {
  preparing: {
    value: { preparing: 'limited' },
    at: 'preparing.publishing',
    becomes: {
      ...leavingFor(),
      prepare: [{ preparing: 'unlimited' }, 'publishing, publishing'],
      'prepare others': [{ preparing: 'limited' }, 'publishing, publishing', undefined, 'CLAIM_CONFLICT'],
      abort: undone,
      recover: [{ preparing: 'limited' }, 'confirming-claim, confirming-claim', 'prepareAlloc'],
      'recover after a reboot': [waiting, 'lost-at-reboot, lost-at-reboot'],
      'lose a claim': undone,
      late: undone,
      prepared: ['prepared', 'mounted, mounted'],
      'not prepared': undone,
      'prepare throws': undone,
    },
  },
  prepared: {
    value: 'prepared',
    at: 'mounted',
    mounted: true,
    becomes: {
      ...leavingFor(),
      'prepare others': ['prepared', 'mounted, mounted', undefined, 'CLAIM_CONFLICT'],
      recover: [{ recovering: 'working' }, 'confirming-claim, confirming-claim', 'recoverAlloc'],
      'recover after a reboot': [waiting, 'lost-at-reboot, lost-at-reboot'],
      'lose a claim': undone,
    },
  },
  recovering: {
    value: { recovering: 'working' },
    at: 'confirming-claim',
    mounted: true,
    becomes: {
      ...leavingFor(),
      'prepare others': [{ recovering: 'working' }, 'confirming-claim, confirming-claim', undefined, 'CLAIM_CONFLICT'],
      'recover after a reboot': [waiting, 'lost-at-reboot, lost-at-reboot'],
      'lose a claim': undone,
      recovered: ['prepared', 'mounted, mounted'],
      'not recovered': undone,
      'recover throws': [{ recovering: 'backing-off' }, 'confirming-claim, confirming-claim'],
    },
  },
  'recovering, backing off': {
    value: { recovering: 'backing-off' },
    at: 'confirming-claim',
    mounted: true,
    becomes: {
      ...leavingFor(),
      'prepare others': [
        { recovering: 'backing-off' },
        'confirming-claim, confirming-claim',
        undefined,
        'CLAIM_CONFLICT',
      ],
      'recover after a reboot': [waiting, 'lost-at-reboot, lost-at-reboot'],
      'lose a claim': undone,
      'recover pause over': [{ recovering: 'working' }, 'confirming-claim, confirming-claim', 'recoverAlloc'],
    },
  },
  'rebooted, was prepared': {
    value: waiting,
    at: 'lost-at-reboot',
    mounted: true,
    becomes: {
      ...leavingFor(),
      prepare: [{ recovering: 'working' }, 'confirming-claim, confirming-claim', 'recoverAlloc'],
      'prepare others': [waiting, 'lost-at-reboot, lost-at-reboot', undefined, 'CLAIM_CONFLICT'],
      'lose a claim': undone,
    },
  },
  'rebooted, was not prepared': {
    value: waiting,
    at: 'lost-at-reboot',
    becomes: {
      ...leavingFor(),
      prepare: [{ preparing: 'unlimited' }, 'confirming-claim, confirming-claim', 'prepareAlloc'],
      'prepare others': [waiting, 'lost-at-reboot, lost-at-reboot', undefined, 'CLAIM_CONFLICT'],
      'lose a claim': undone,
    },
  },
  releasing: {
    value: working,
    at: 'releasing.unmounting',
    crashes: ['freed'],
    becomes: {
      prepare: [working, 'unmounting, unmounting', undefined, 'ABORTED'],
      'prepare others': [working, 'unmounting, unmounting', undefined, 'ABORTED'],
      given: ['released', ''],
      'release throws': [{ releasing: { 'asked-for': 'backing-off' } }, 'unmounting, unmounting'],
    },
  },
  'releasing, backing off': {
    value: { releasing: { 'asked-for': 'backing-off' } },
    at: 'releasing.unmounting',
    becomes: {
      prepare: [{ releasing: { 'asked-for': 'backing-off' } }, 'unmounting, unmounting', undefined, 'ABORTED'],
      'prepare others': [{ releasing: { 'asked-for': 'backing-off' } }, 'unmounting, unmounting', undefined, 'ABORTED'],
      'release pause over': [working, 'unmounting, unmounting', 'releaseAlloc'],
    },
  },
  undoing: {
    value: undoing,
    at: 'releasing.unmounting',
    failed: true,
    crashes: ['freed'],
    becomes: {
      prepare: [undoing, 'unmounting, unmounting', undefined, 'ABORTED'],
      'prepare others': [undoing, 'unmounting, unmounting', undefined, 'ABORTED'],
      release: [working, 'unmounting, unmounting', 'releaseAlloc'],
      given: ['failed', 'released, released'],
      'release throws': [{ releasing: { undoing: 'backing-off' } }, 'unmounting, unmounting'],
    },
  },
  'undoing, a volume reports': {
    value: undoing,
    at: 'releasing.reporting',
    failed: true,
    crashes: ['given'],
    becomes: {
      prepare: [undoing, 'reporting, reporting', undefined, 'ABORTED'],
      'prepare others': [undoing, 'reporting, reporting', undefined, 'ABORTED'],
      release: [working, 'unmounting, unmounting', 'releaseAlloc'],
      recover: [undoing, 'unmounting, unmounting'],
      'recover after a reboot': [undoing, 'unmounting, unmounting'],
      'release throws': [{ releasing: { undoing: 'backing-off' } }, 'unmounting, unmounting'],
      freed: ['failed', 'released, released'],
    },
  },
  'undoing, backing off': {
    value: { releasing: { undoing: 'backing-off' } },
    at: 'releasing.unmounting',
    failed: true,
    becomes: {
      prepare: [{ releasing: { undoing: 'backing-off' } }, 'unmounting, unmounting', undefined, 'ABORTED'],
      'prepare others': [{ releasing: { undoing: 'backing-off' } }, 'unmounting, unmounting', undefined, 'ABORTED'],
      release: [working, 'unmounting, unmounting', 'releaseAlloc'],
      'undo pause over': [undoing, 'unmounting, unmounting', 'releaseAlloc'],
    },
  },
  failed: {
    value: 'failed',
    at: 'released',
    failed: true,
    becomes: {
      prepare: [{ preparing: 'unlimited' }, 'claiming, claiming', 'prepareAlloc'],
      'prepare others': [{ preparing: 'unlimited' }, 'claiming', 'prepareAlloc'],
      release: ['released', ''],
      forget: ['released', ''],
    },
  },
};

type Alloc = SnapshotFrom<typeof allocMachine>;

function allocAs({ value, at, failed, mounted }: Row): Alloc {
  const part = (name: string): VolumePart => ({ at, generation: 7, ...(mounted && { mount: mountOf(name) }) });
  const context: AllocContext = {
    ...{ node: 'n', allocId: 'web', volumes, untilMs: 1_000, bootId: 'b', wait: true },
    parts: { data: part('data'), log: part('log') },
    failure: failed ? failure : null,
  };
  // A state of several levels is one of the machine's, which its type does not say here.
  return allocMachine.resolveState({ value: value as Alloc['value'], context });
}

/** What a step comes to, as the rows have it. */
function becoming(before: Alloc, event: AllocEvent): [StateValue, string, string | undefined, string | undefined] {
  const [next, actions] = transition(allocMachine, before, event);
  const params = <T>(type: string): T[] => actions.filter((one) => one.type === type).map((one) => one.params as T);
  const [spawned] = params<{ src?: string; id?: string }>('xstate.spawnChild');
  const [answer] = params<{ error?: { code: string } }>('answer');
  const steps = Object.values(next.context.parts).map(stepOf).join(', ');
  return [next.value, steps, spawned?.id, answer?.error?.code];
}

const eventNames = Object.keys(events) as EventName[];

describe('an alloc, state by state', () => {
  for (const [name, row] of Object.entries(rows))
    it(`H1 H2 H3 ${name}: what each event makes of it`, () => {
      const before = allocAs(row);
      const same = [row.value, Object.values(before.context.parts).map(stepOf).join(', ')];
      for (const event of eventNames) {
        const [state, steps, begun, answer] = row.becomes[event] ?? [...same];
        if (row.crashes?.includes(event)) expect(() => becoming(before, events[event]), event).to.throw();
        else expect(becoming(before, events[event]), event).to.deep.equal([state, steps, begun, answer]);
      }
    });

  it('H1 released: it takes nothing but its request', () => {
    const [before] = initialTransition(allocMachine, { node: 'n', allocId: 'web' });
    for (const event of eventNames)
      expect(becoming(before, events[event]), event).to.deep.equal(
        event === 'prepare'
          ? [{ preparing: 'unlimited' }, 'claiming, claiming', 'prepareAlloc', undefined]
          : event === 'prepare others'
            ? [{ preparing: 'unlimited' }, 'claiming', 'prepareAlloc', undefined]
            : ['released', '', undefined, undefined],
      );
  });

  it('H1 work that ends before its volumes are where they have to be is a crash, and changes nothing', () => {
    const preparing = rows.preparing && allocAs(rows.preparing);
    if (!preparing) throw new Error('there is no such row');
    const short = done('prepareAlloc', { status: 'done', steps: each('volume.published') });
    expect(() => transition(allocMachine, preparing, short)).to.throw(
      "the work on volume 'data' has ended, and it is preparing.mounting",
    );
    const wrong = { type: 'alloc.progress', steps: each('volume.unmounted') } as const;
    expect(() => transition(allocMachine, preparing, wrong)).to.throw(
      "'volume.unmounted' was reported of a volume that is preparing.publishing",
    );
  });
});
