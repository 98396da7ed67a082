/** Binds the machines of plugins to their effects. */
import { nodeOf } from '../../machines/kit/addresses.js';
import { pluginMachine } from '../../machines/plugin/plugin.js';
import { pluginsMachine } from '../../machines/plugin/plugins.js';
import type { ActorKind } from '../engine/effects/effects.js';
import { type FingerprintLoopOptions, fingerprintLoop } from './fingerprint-loop.js';
import { pluginsTopic } from './plugin-events.js';

const topicOf = (address: string): string => pluginsTopic(nodeOf(address));

export const pluginKinds = (options: FingerprintLoopOptions): ActorKind[] => [
  {
    machine: pluginsMachine,
    effects: {},
    begin: (address) => ({ node: nodeOf(address) }),
    topic: topicOf,
  },
  { machine: pluginMachine, effects: { fingerprintLoop: fingerprintLoop(options) }, topic: topicOf },
];
