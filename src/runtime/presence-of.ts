/** What this agent says of itself in the roster: its version, and its plugins as controller calls see them. */
import { hostname } from 'node:os';
import { nodeOwnedPrefix } from '../../machines/kit/addresses.js';
import type { PluginPort } from '../calls/plugin-port.js';
import type { PresenceOptions } from '../cluster/presence.js';
import { type RosterPlugin, rosterPluginOf } from '../cluster/roster-entry.js';
import type { Clock } from '../engine/clock.js';
import type { Engine } from '../engine/engine.js';
import { storeLevel } from '../engine/store-level.js';
import { packageVersion } from '../host/version.js';
import type { PluginRegistry } from '../registry/plugin-registry.js';

interface PresenceOfOptions {
  nodeId: string;
  engine: Pick<Engine, 'observe'>;
  plugins: Pick<PluginRegistry, 'registered'>;
  port: Pick<PluginPort, 'observation'>;
  /** Node sides of the plugins. */
  nodeSide: Pick<PluginPort, 'observation'>;
  clock: Clock;
}

export type Presence = Pick<PresenceOptions, 'entry' | 'watch'>;

export function presenceOf(options: PresenceOfOptions): Presence {
  const { nodeId, engine, plugins, port, nodeSide, clock } = options;
  const host = hostname();
  const version = packageVersion();
  const startedAtMs = clock.now();
  const prefixes = ['plugins', 'plugin'].map((machine) => nodeOwnedPrefix(machine, nodeId));
  return {
    entry: () => {
      const types = new Map<string, string[]>();
      for (const type of ['csi-controller', 'csi-node'])
        for (const { name } of plugins.registered(type)) types.set(name, [...(types.get(name) ?? []), type]);
      const entries = [...types].map(([name, of]): [string, RosterPlugin] => [
        name,
        rosterPluginOf(
          port.observation(name),
          of,
          of.includes('csi-node') ? nodeSide.observation(name).trouble : undefined,
        ),
      ]);
      return { host, version, level: storeLevel, startedAtMs, plugins: Object.fromEntries(entries) };
    },
    watch: (changed) =>
      engine.observe(({ address }) => {
        if (prefixes.some((prefix) => address.startsWith(prefix))) changed();
      }),
  };
}
