/** Events of plugins, as subscribers get them. */

import type { PluginInfo, RegistrationChanged } from '../../machines/index.js';
import type { HealthChanged, NodeInfo, NodeInfoChanged } from '../../machines/plugin/plugin.js';
import type { FollowedRow } from '../engine/topics/event-ids.js';
import { eventOf } from '../engine/topics/topics.js';

/**
 * One change of a plugin. `id` is its place in the topic: hand it back to go on from there.
 * For `node-info`, all that the instance tells of its node: what is left out is none. It comes when an instance tells of
 * its node for the first time, and at each change; always before the `health` that the same look led to.
 */
export interface PluginEvent extends NodeInfo {
  id: string;
  /** Milliseconds since the epoch. */
  at: number;
  kind: 'registered' | 'updated' | 'promoted' | 'deregistered' | 'node-info' | 'health';
  info: PluginInfo;
  /** For `promoted`: the instance that was active before. */
  from?: PluginInfo;
  /** For `health`: health before and now. */
  was?: HealthChanged['from'];
  healthy?: boolean;
  description?: string;
  /** For `node-info`: what this instance reported before; absent the first time. */
  before?: NodeInfo;
  /** For `deregistered`: what depended on the instance, if known; see `createRuntime({ dependents })`. */
  dependents?: string[];
}

export const pluginsTopic = (node: string): string => `plugins/${encodeURIComponent(node)}`;

type Broadcast = (RegistrationChanged | HealthChanged | NodeInfoChanged) & { at: number };

export function pluginEventOf(row: FollowedRow): PluginEvent {
  const broadcast = eventOf<Broadcast>(row);
  const { at, info } = broadcast;
  const { id } = row;
  switch (broadcast.type) {
    case 'promoted':
      return { id, at, info, kind: 'promoted', from: broadcast.from };
    case 'node-info': {
      const { type, at: _, ...told } = broadcast;
      return { id, at, kind: type, ...told };
    }
    case 'health':
      return {
        id,
        at,
        info,
        kind: 'health',
        was: broadcast.from,
        healthy: broadcast.healthy,
        description: broadcast.description,
      };
    case 'deregistered': {
      const { dependents } = broadcast;
      return { id, at, info, kind: 'deregistered', ...(dependents && { dependents }) };
    }
    default:
      return { id, at, info, kind: broadcast.type };
  }
}
