/** One node, as its agent reports its plugins. Diagram: docs/machines/node.md (generated). */
import { assign, emit, setup } from 'xstate';
import type { Segments } from '../kit/csi-types.js';
import { type Failure, hostActions, type Stamped, stampOf, unbound } from '../kit/host.js';
import { refusing } from '../kit/requests.js';
import { isSameData } from '../kit/same-data.js';
import type { StateWords } from '../kit/state-words.js';
import {
  countOf,
  isFull,
  type Slot,
  type SlotAnswer,
  type SlotsByPlugin,
  slotsAsReported,
  slotsOf,
  withCount,
  withoutSlots,
  withSlot,
} from './node-slots.js';

/** A plugin on a node. */
export interface NodePlugin {
  /** Registered name of the plugin. */
  name: string;
  /** The plugin's name for the node. */
  nodeId: string;
  topology?: Segments;
  /** Absent: no limit. */
  maxVolumes?: number;
}

/** Mark of a report by the node's own agent: rises with each report, also over restarts. */
export interface ReportMark {
  /** Rises with each start of the agent. */
  epoch: number;
  number: number;
}

/** Fence of a node: its volumes are given up, on record. */
interface Fence {
  reason: string;
  /** Milliseconds since the epoch. */
  at: number;
  /** Whether each volume there was told. */
  isDone: boolean;
  /** Volumes out of service, or whose records could not be read, as `namespace/id`: they may be on the node. Absent: none. */
  unread?: string[];
}

export interface NodeContext {
  id: string;
  plugins: NodePlugin[];
  fence: Fence | null;
  /** Mark of the last report by its own agent. */
  heard?: ReportMark;
  /** The node has reported while its volumes were being told: it is ready once they are. */
  isBack: boolean;
  /** Slots of the volumes here, for plugins with a limit. */
  slots: SlotsByPlugin;
}

/** Request of a volume for a slot. */
export interface SlotRequest extends Slot {
  plugin: string;
}

export type NodeEvent =
  /** `mark`: the report may be repeated until it is known to have arrived. */
  (
    | { type: 'node.report'; plugins: NodePlugin[]; mark?: ReportMark }
    | { type: 'node.down' }
    | { type: 'node.fence'; reason: string }
    | { type: 'node.remove' }
    /** Before a volume is published here. Answered with a SlotAnswer. */
    | ({ type: 'node.reserve-slot' } & SlotRequest)
    /** For a volume that is here already, whatever the limit is. */
    | ({ type: 'node.add-slot' } & SlotRequest)
    /** Sent by a volume in the commit that ends its publication here, or by whoever finds a slot without a volume. */
    | { type: 'node.release-slots'; plugin: string; slots: Slot[] }
    /** Each volume here has its slot. `number`: of the slots when the count began. */
    | { type: 'node.slots-counted'; plugin: string; number: number }
  ) &
    Partial<Stamped>;

/** Broadcasts. */
export type NodeChanged =
  | { type: 'reported'; id: string; plugins: NodePlugin[] }
  | { type: 'down' | 'gone'; id: string }
  | { type: 'fenced'; id: string; reason: string };

const lost = 'the node was taken out';

export const nodeNotFound = ({ id }: Pick<NodeContext, 'id'>): Failure => ({
  code: 'NODE_NOT_FOUND',
  message: `there is no node ${id}: list them, or report it`,
  final: true,
});

/** Answer to a request for a slot on a node that is not ready. */
export const notReady = (id: string, state: string): Failure => ({
  code: 'NODE_NOT_READY',
  message: `node ${id} is ${state}: it takes no volume until it reports, as its agent does when it is started`,
  final: false,
});

const limitOf = ({ plugins }: NodeContext, plugin: string): number | undefined =>
  plugins.find(({ name }) => name === plugin)?.maxVolumes;

/** Reason why the volume gets no slot here; undefined: it gets one, or needs none. */
export function slotRefusal(
  context: NodeContext,
  { plugin, volume }: Omit<SlotRequest, 'reservation'>,
): Failure | undefined {
  const limit = limitOf(context, plugin);
  const slots = slotsOf(context.slots, plugin);
  if (!slots.isCounted || !isFull(slots, volume, limit)) return undefined;
  const message = `node ${context.id} has ${countOf(slots)} volumes of plugin '${plugin}', and takes ${limit}: unpublish one there, or take another node`;
  return { code: 'NODE_FULL', message, final: false };
}

const { isRefused, refused } = refusing(slotRefusal);

const tooLong = 'it was down for too long';

/** Whether a report, or a later one, has arrived before. */
export const isHeard = ({ heard }: Pick<NodeContext, 'heard'>, mark: ReportMark | undefined): boolean => {
  if (!heard || !mark) return false;
  return mark.epoch === heard.epoch ? mark.number <= heard.number : mark.epoch < heard.epoch;
};

interface Reported {
  event: Extract<NodeEvent, { type: 'node.report' }>;
}

const markOf = ({ event }: Reported): ReportMark | undefined => event.mark;
const pluginsOf = ({ event }: Reported): NodePlugin[] => event.plugins;
const keptPluginsOf = ({ context }: { context: NodeContext }): NodePlugin[] => context.plugins;

interface Asked {
  context: NodeContext;
  event: Extract<NodeEvent, { type: 'node.reserve-slot' }>;
}

const slotAnswer = (value: SlotAnswer) => ({ type: 'answer', params: { value } }) as const;
const slotRequestOf = ({ event }: Asked): SlotRequest => event;
/** Reserves slots, one request after the other, so that two never get the last one. */
const reservesSlot = [
  { guard: { type: 'isUnlimited', params: slotRequestOf }, actions: slotAnswer({ status: 'not-limited' }) },
  {
    guard: { type: 'isUncounted', params: slotRequestOf },
    actions: {
      type: 'answer',
      params: ({ context, event }: Asked) => ({
        value: { status: 'not-counted', number: slotsOf(context.slots, event.plugin).number } satisfies SlotAnswer,
      }),
    },
  },
  refused,
  { actions: [{ type: 'addSlot', params: slotRequestOf }, slotAnswer({ status: 'reserved' })] },
] as const;

/** Ignores a report that has arrived before. */
const wasHeard = { guard: { type: 'isHeard', params: markOf } } as const;
const keepsMark = { type: 'keepMark', params: markOf } as const;
/** Takes over the report. */
const takesOver = [
  keepsMark,
  { type: 'keepPlugins', params: pluginsOf },
  { type: 'emitReport', params: pluginsOf },
] as const;
/** Keeps the report until all volumes here were told. */
const keepsReturn = [keepsMark, { type: 'keepReturn', params: pluginsOf }] as const;
/** Takes over the report that was kept: all volumes were told. */
const readyAgain = {
  guard: 'isBack',
  target: '#node.ready',
  actions: [
    { type: 'emitReport', params: keptPluginsOf },
    { type: 'keepPlugins', params: keptPluginsOf },
  ],
} as const;

export const nodeMachine = setup({
  types: {} as {
    context: NodeContext;
    events: NodeEvent;
    input: { id: string };
    emitted: NodeChanged;
    meta: StateWords;
  },
  actors: {
    /**
     * Ends once the node has been down so long that it is fenced, by time that has passed while this process ran.
     * Meanwhile claims that wait for the node are withdrawn: it could not use the volumes.
     */
    fenceTimer: unbound<void, { id: string }>(),
    /**
     * Tells each volume here that the node's report is not waited for; ends when all were told, with those that could not be
     * read.
     */
    releaseVolumes: unbound<string[] | undefined, { id: string; reason: string }>(),
  },
  guards: {
    /** Whether the report is a repeat: it does not undo later statements about the node. */
    isHeard: ({ context }, mark: ReportMark | undefined) => isHeard(context, mark),
    isSame: ({ context }, plugins: NodePlugin[]) => isSameData(context.plugins, plugins),
    isBack: ({ context }) => context.isBack,
    /** Whether the fence has reached all volumes. */
    isWhole: ({ context }) => context.fence?.unread === undefined,
    isUnlimited: ({ context }, { plugin }: SlotRequest) => limitOf(context, plugin) === undefined,
    isUncounted: ({ context }, { plugin }: SlotRequest) => !slotsOf(context.slots, plugin).isCounted,
    isRefused,
  },
  actions: {
    ...hostActions,
    keepMark: assign((_, mark: ReportMark | undefined) => (mark ? { heard: mark } : {})),
    keepPlugins: assign(({ context }, plugins: NodePlugin[]) => ({
      ...{ plugins, fence: null, isBack: false },
      slots: slotsAsReported(context.slots, plugins),
    })),
    /** Keeps the report: nothing new comes to the node before all volumes were told. */
    keepReturn: assign(({ context }, plugins: NodePlugin[]) => ({
      ...{ plugins, isBack: true },
      slots: slotsAsReported(context.slots, plugins),
    })),
    addSlot: assign(({ context }, { plugin, volume, reservation }: SlotRequest) => ({
      slots: withSlot(context.slots, plugin, { volume, reservation }),
    })),
    releaseSlots: assign(({ context }, { plugin, slots }: { plugin: string; slots: Slot[] }) => ({
      slots: withoutSlots(context.slots, plugin, slots),
    })),
    endCount: assign(({ context }, { plugin, number }: { plugin: string; number: number }) => ({
      slots: withCount(context.slots, plugin, number),
    })),
    forgetReturn: assign({ isBack: false }),
    forgetPlugins: assign({ plugins: [] }),
    keepFence: assign(({ event }, reason: string) => ({
      fence: { reason, at: stampOf(event).at, isDone: false },
      isBack: false,
    })),
    endFence: assign(({ context: { fence } }, unread: string[] | undefined) => ({
      fence: fence && { ...fence, isDone: true, ...(unread?.length && { unread }) },
    })),
    emitReport: emit(({ context }, plugins: NodePlugin[]) => ({ type: 'reported' as const, id: context.id, plugins })),
    emitState: emit(({ context }, type: 'down' | 'gone') => ({ type, id: context.id })),
    emitFenced: emit(({ context }, reason: string) => ({ type: 'fenced' as const, id: context.id, reason })),
  },
}).createMachine({
  id: 'node',
  version: '2',
  context: ({ input }) => ({ id: input.id, plugins: [], fence: null, isBack: false, slots: {} }),
  initial: 'gone',
  on: {
    'node.report': [wasHeard, { target: '.ready', actions: takesOver }],
    'node.fence': {
      target: '.down.fencing',
      actions: [
        { type: 'keepFence', params: ({ event }) => event.reason },
        { type: 'emitFenced', params: ({ event }) => event.reason },
      ],
    },
    'node.remove': {
      target: '.gone.releasing',
      actions: [{ type: 'keepFence', params: lost }, 'forgetPlugins', { type: 'emitState', params: 'gone' }],
    },
    'node.add-slot': { actions: { type: 'addSlot', params: ({ event }) => event } },
    'node.release-slots': { actions: { type: 'releaseSlots', params: ({ event }) => event } },
    'node.slots-counted': { actions: { type: 'endCount', params: ({ event }) => event } },
  },
  states: {
    ready: {
      meta: { health: 'healthy', words: 'ready' },
      on: {
        'node.reserve-slot': reservesSlot,
        'node.down': { target: 'down', actions: { type: 'emitState', params: 'down' } },
        /** Nodes report again and again: a report without news changes nothing. */
        'node.report': [
          wasHeard,
          { guard: { type: 'isSame', params: pluginsOf }, actions: keepsMark },
          { actions: takesOver },
        ],
      },
    },
    down: {
      initial: 'waiting',
      on: {
        'node.reserve-slot': {
          actions: { type: 'answer', params: ({ context }) => ({ error: notReady(context.id, 'down') }) },
        },
      },
      states: {
        waiting: {
          meta: { health: 'failed', words: 'down' },
          invoke: {
            id: 'fenceTimer',
            src: 'fenceTimer',
            input: ({ context }) => ({ id: context.id }),
            onDone: {
              target: 'fencing',
              actions: [
                { type: 'keepFence', params: tooLong },
                { type: 'emitFenced', params: tooLong },
              ],
            },
          },
        },
        fencing: {
          meta: { health: 'failed', words: 'down, its volumes are being released' },
          invoke: {
            id: 'releaseVolumes',
            src: 'releaseVolumes',
            input: ({ context }) => ({ id: context.id, reason: context.fence?.reason ?? lost }),
            onDone: [
              readyAgain,
              { target: 'fenced', actions: { type: 'endFence', params: ({ event }) => event.output } },
            ],
          },
          on: {
            'node.report': [wasHeard, { actions: keepsReturn }],
            'node.down': { actions: 'forgetReturn' },
            'node.fence': { actions: 'forgetReturn' },
          },
        },
        /** All volumes are told already. One that could not be read then is told by another fence. */
        fenced: { meta: { health: 'failed', words: 'down and fenced' }, on: { 'node.fence': { guard: 'isWhole' } } },
      },
    },
    gone: {
      meta: { health: 'gone', words: 'taken out' },
      initial: 'unknown',
      on: {
        'node.down': { actions: { type: 'answer', params: ({ context }) => ({ error: nodeNotFound(context) }) } },
        'node.fence': { actions: { type: 'answer', params: ({ context }) => ({ error: nodeNotFound(context) }) } },
        'node.reserve-slot': {
          actions: { type: 'answer', params: ({ context }) => ({ error: notReady(context.id, 'gone') }) },
        },
      },
      states: {
        releasing: {
          meta: { health: 'gone', words: 'taken out, its volumes are being released' },
          invoke: {
            id: 'releaseAll',
            src: 'releaseVolumes',
            input: ({ context }) => ({ id: context.id, reason: context.fence?.reason ?? lost }),
            onDone: [readyAgain, { target: 'unknown' }],
          },
          on: {
            'node.report': [wasHeard, { actions: keepsReturn }],
            /** Later statements than the report that was kept. */
            'node.down': { guard: 'isBack', actions: ['forgetReturn', 'forgetPlugins'] },
            'node.fence': { guard: 'isBack', actions: ['forgetReturn', 'forgetPlugins'] },
            'node.remove': { actions: ['forgetReturn', 'forgetPlugins'] },
          },
        },
        /** No such node. */
        unknown: {
          tags: 'absent',
          on: {
            'node.remove': { actions: { type: 'answer', params: ({ context }) => ({ error: nodeNotFound(context) }) } },
            'node.reserve-slot': {
              actions: { type: 'answer', params: ({ context }) => ({ error: nodeNotFound(context) }) },
            },
          },
        },
      },
    },
  },
});
