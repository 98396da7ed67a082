/** The registry's broadcast events, as subscribers get them. */

import type { PluginInfo, RegistrationChanged } from '../../machines/index.js';
import type { HealthChanged } from '../../machines/plugin.js';
import type { TopicRow } from '../engine/store.js';
import { eventOf } from '../engine/topics.js';

/** One change of a plugin. `id` is its place in the topic: hand it back to go on from there. */
export interface PluginEvent {
  id: string;
  /** Milliseconds since the epoch. */
  at: number;
  kind: 'registered' | 'updated' | 'promoted' | 'deregistered' | 'health';
  info: PluginInfo;
  /** For `promoted`, who was active before. */
  from?: PluginInfo;
  /** For `health`: what it was before, and is now. */
  was?: HealthChanged['from'];
  healthy?: boolean;
  description?: string;
  /** For `deregistered`: what depended on it, where anything was known to; see `createRuntime({ dependents })`. */
  dependents?: string[];
}

export const pluginsTopic = (node: string): string => `plugins/${encodeURIComponent(node)}`;

type Broadcast = (RegistrationChanged | HealthChanged) & { at: number };

export function pluginEventOf(row: TopicRow): PluginEvent {
  const broadcast = eventOf<Broadcast>(row);
  const common = { id: String(row.cursor), at: broadcast.at, info: broadcast.info };
  switch (broadcast.type) {
    case 'promoted':
      return { ...common, kind: 'promoted', from: broadcast.from };
    case 'health':
      return {
        ...common,
        kind: 'health',
        was: broadcast.from,
        healthy: broadcast.healthy,
        description: broadcast.description,
      };
    case 'deregistered': {
      const { dependents } = broadcast;
      return { ...common, kind: 'deregistered', ...(dependents && { dependents }) };
    }
    default:
      return { ...common, kind: broadcast.type };
  }
}
