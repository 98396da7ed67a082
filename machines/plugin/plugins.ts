/** All instances of one plugin name, newest first. Diagram: docs/machines/plugins.md (generated). */
import { assign, emit, setup } from 'xstate';
import { pluginAddress } from '../kit/addresses.js';
import { hostActions, type MessageParams, type Stamped } from '../kit/host.js';
import { isSameData } from '../kit/same-data.js';
import type { StateWords } from '../kit/state-words.js';
import type { PluginInfo } from './plugin.js';

interface PluginsInput {
  node: string;
}

export interface PluginsContext {
  node: string;
  /** Newest first; the first one is active. */
  instances: PluginInfo[];
}

export type PluginsEvent = (
  | { type: 'plugins.register'; info: PluginInfo }
  /**
   * `dependents`: what depends on the instance, if known. `info`: only if the instance is still defined so; default:
   * in any case.
   */
  | { type: 'plugins.deregister'; allocId: string; dependents?: string[] | undefined; info?: PluginInfo }
) &
  Stamped;

/** Broadcast when the instances of a name change. */
export type RegistrationChanged =
  | { type: 'registered' | 'updated'; info: PluginInfo }
  /** `dependents`: what depended on it, if anything did. */
  | { type: 'deregistered'; info: PluginInfo; dependents?: string[] }
  | { type: 'promoted'; info: PluginInfo; from: PluginInfo };

type Deregistration = Extract<PluginsEvent, { type: 'plugins.deregister' }>;

const instanceOf = (context: PluginsContext, allocId: string): PluginInfo | undefined =>
  context.instances.find((instance) => instance.allocId === allocId);

/** For actions whose guard has found the instance. */
const present = (context: PluginsContext, allocId: string): PluginInfo => {
  const info = instanceOf(context, allocId);
  if (!info) throw new Error(`no instance ${allocId}`);
  return info;
};

const nth = (context: PluginsContext, index: number): PluginInfo => {
  const info = context.instances[index];
  if (!info) throw new Error(`no instance at ${index}`);
  return info;
};

const addressOf = (context: PluginsContext, { type, name, allocId }: PluginInfo): string =>
  pluginAddress(context.node, type, name, allocId);

const shutdownOf = (context: PluginsContext, allocId: string): MessageParams => ({
  to: addressOf(context, present(context, allocId)),
  event: { type: 'plugin.shutdown' },
});

export const pluginsMachine = setup({
  types: {} as {
    context: PluginsContext;
    events: PluginsEvent;
    input: PluginsInput;
    emitted: RegistrationChanged;
    meta: StateWords;
  },
  guards: {
    isNew: ({ context }, info: PluginInfo) => !instanceOf(context, info.allocId),
    isChanged: ({ context }, info: PluginInfo) => {
      const present = instanceOf(context, info.allocId);
      return present !== undefined && !isSameData(present, info);
    },
    isActive: ({ context }, allocId: string) => context.instances[0]?.allocId === allocId,
    isAnother: ({ context }, { allocId, info }: Deregistration) =>
      info !== undefined && !isSameData(instanceOf(context, allocId), info),
    isPresent: ({ context }, allocId: string) => instanceOf(context, allocId) !== undefined,
    isOnly: ({ context }, allocId: string) =>
      context.instances.length === 1 && context.instances[0]?.allocId === allocId,
  },
  actions: {
    ...hostActions,
    addFirst: assign(({ context }, info: PluginInfo) => ({ instances: [info, ...context.instances] })),
    replace: assign(({ context }, info: PluginInfo) => ({
      instances: context.instances.map((instance) => (instance.allocId === info.allocId ? info : instance)),
    })),
    remove: assign(({ context }, allocId: string) => ({
      instances: context.instances.filter((instance) => instance.allocId !== allocId),
    })),
    emitChange: emit((_, change: RegistrationChanged) => change),
    emitDeregistered: emit(({ context }, { allocId, dependents = [] }: Deregistration) => ({
      type: 'deregistered' as const,
      info: present(context, allocId),
      ...(dependents.length > 0 && { dependents }),
    })),
    emitPromoted: emit(({ context }) => ({
      type: 'promoted' as const,
      info: nth(context, 1),
      from: nth(context, 0),
    })),
  },
}).createMachine({
  id: 'plugins',
  version: '1',
  context: ({ input }) => ({ node: input.node, instances: [] }),
  initial: 'empty',
  on: {
    'plugins.register': [
      {
        guard: { type: 'isNew', params: ({ event }) => event.info },
        target: '.present',
        actions: [
          { type: 'addFirst', params: ({ event }) => event.info },
          { type: 'emitChange', params: ({ event }) => ({ type: 'registered', info: event.info }) },
          {
            type: 'messages',
            params: ({ context, event }) => [{ to: addressOf(context, event.info), input: { info: event.info } }],
          },
        ],
      },
      {
        guard: { type: 'isChanged', params: ({ event }) => event.info },
        actions: [
          { type: 'replace', params: ({ event }) => event.info },
          { type: 'emitChange', params: ({ event }) => ({ type: 'updated', info: event.info }) },
          {
            type: 'messages',
            params: ({ context, event }) => [
              { to: addressOf(context, event.info), event: { type: 'plugin.restart', info: event.info } },
            ],
          },
        ],
      },
    ],
  },
  states: {
    empty: { tags: 'absent', meta: { health: 'gone', words: 'no instance' } },
    present: {
      meta: { health: 'healthy', words: 'has an instance' },
      on: {
        'plugins.deregister': [
          { guard: { type: 'isAnother', params: ({ event }) => event } },
          {
            guard: { type: 'isOnly', params: ({ event }) => event.allocId },
            target: 'empty',
            actions: [
              { type: 'emitDeregistered', params: ({ event }) => event },
              { type: 'messages', params: ({ context, event }) => [shutdownOf(context, event.allocId)] },
              { type: 'remove', params: ({ event }) => event.allocId },
            ],
          },
          {
            guard: { type: 'isActive', params: ({ event }) => event.allocId },
            actions: [
              { type: 'emitDeregistered', params: ({ event }) => event },
              'emitPromoted',
              { type: 'messages', params: ({ context, event }) => [shutdownOf(context, event.allocId)] },
              { type: 'remove', params: ({ event }) => event.allocId },
            ],
          },
          {
            guard: { type: 'isPresent', params: ({ event }) => event.allocId },
            actions: [
              { type: 'emitDeregistered', params: ({ event }) => event },
              { type: 'messages', params: ({ context, event }) => [shutdownOf(context, event.allocId)] },
              { type: 'remove', params: ({ event }) => event.allocId },
            ],
          },
        ],
      },
    },
  },
});
