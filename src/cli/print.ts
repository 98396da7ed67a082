/** Tables and details for people. For programs there is --json. */
import type { ActorReport, PluginReport } from '../agent/api.js';

/** Without line breaks and control characters: what drivers say of themselves must not steer the terminal. */
export const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');

/** Columns as wide as their widest cell, two spaces apart. */
export function table(header: string[], rows: string[][]): string {
  const lines = [header, ...rows];
  const widths = widthsOf(lines);
  return lines.map((line) => tableLine(line, widths)).join('\n');
}

/** Of each column, that of its widest cell. */
export const widthsOf = ([header = [], ...rows]: string[][]): number[] =>
  header.map((_, column) => Math.max(...[header, ...rows].map((line) => oneLine(line[column] ?? '').length)));

/** For tables of which not all lines are known yet. */
export const tableLine = (cells: string[], widths: number[]): string =>
  cells
    .map((cell, column) => oneLine(cell).padEnd(widths[column] ?? 0))
    .join('  ')
    .trimEnd();

export const pluginTable = (plugins: PluginReport[]): string =>
  plugins.length === 0
    ? 'no plugins are registered'
    : table(
        ['NAME', 'TYPE', 'STATE', 'DRIVER', 'VERSION', 'INSTANCES', 'DESCRIPTION'],
        plugins.map(({ info, state, fingerprint, instances, description }) => [
          info.name,
          info.type,
          state,
          fingerprint.pluginName ?? '-',
          fingerprint.vendorVersion ?? '-',
          String(instances),
          description,
        ]),
      );

export const silentStore = (since: number): string =>
  `the store has not answered since ${new Date(since).toISOString()}: what you see may be old, changes are refused`;

export const actorTable = (actors: ActorReport[]): string =>
  table(
    ['ADDRESS', 'STATE', 'SEQ', 'OUT OF SERVICE'],
    actors.map(({ address, state, seq, quarantined }) => [
      address,
      state === undefined ? '-' : typeof state === 'string' ? state : JSON.stringify(state),
      seq === undefined ? '-' : String(seq),
      quarantined ?? '-',
    ]),
  );

export function pluginDetails({ info, state, description, fingerprint, checkedAt, instances }: PluginReport): string {
  const {
    pluginName = '-',
    vendorVersion = '-',
    capabilities,
    pluginCapabilities,
    nodeId,
    maxVolumes,
    topology,
  } = fingerprint;
  const listed = (items: string[] | undefined): string => (items ? items.join(', ') || 'none' : 'not known yet');
  const facts: [string, string][] = [
    ['plugin', `${info.name} (${info.type})`],
    ['state', `${state}: ${description}`],
    ['checked', checkedAt === undefined ? 'not since the agent started' : new Date(checkedAt).toISOString()],
    ['driver', `${pluginName} ${vendorVersion}`],
    ['plugin offers', listed(pluginCapabilities)],
    ['service offers', listed(capabilities)],
    ['node id', nodeId ?? '-'],
    ['max volumes', maxVolumes === undefined ? 'no limit' : String(maxVolumes)],
    [
      'topology',
      topology
        ? Object.entries(topology)
            .map(([key, value]) => `${key}=${value}`)
            .join(', ')
        : '-',
    ],
    ['socket', info.connection.socketPath],
    ['instance', `${info.allocId}, of ${instances}`],
  ];
  const width = Math.max(...facts.map(([name]) => name.length));
  return facts.map(([name, value]) => `${name.padEnd(width)}  ${oneLine(value)}`).join('\n');
}
