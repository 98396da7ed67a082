/** Tables and details of snapshots, of one volume and of several, for people. */
import type { GroupSnapshotReport, SnapshotReport } from '../agent/snapshot-api.js';
import { factsTable, table } from './print.js';
import { sizeText } from './print-volumes.js';

export type AnyReport = SnapshotReport | GroupSnapshotReport;

const sourcesOf = (snapshot: AnyReport): string =>
  ('volumes' in snapshot ? snapshot.volumes : [snapshot.volume])
    .map(({ namespace, id }) => (namespace === snapshot.key.namespace ? id : `${namespace}/${id}`))
    .join(', ');

/** Formats when a snapshot was taken. A plugin may report a time that no date can hold. */
function takenText({ takenAtMs }: AnyReport): string {
  const taken = new Date(takenAtMs ?? Number.NaN);
  return Number.isNaN(taken.getTime()) ? '-' : taken.toISOString();
}

const troubleOf = ({ error, leftovers }: AnyReport): string => error?.message ?? leftovers?.join('; ') ?? '';

export const snapshotTable = (snapshots: AnyReport[], maxChars?: number): string =>
  table(
    ['NAMESPACE', 'ID', 'PLUGIN', 'STATE', 'OF', 'TAKEN', 'TROUBLE'],
    snapshots.map((snapshot) => [
      snapshot.key.namespace,
      snapshot.key.id,
      snapshot.plugin,
      snapshot.state,
      sourcesOf(snapshot),
      takenText(snapshot),
      troubleOf(snapshot),
    ]),
    maxChars,
  );

export function snapshotDetails(snapshot: AnyReport): string {
  const { key, plugin, state, step, csiId, error, leftovers = [] } = snapshot;
  const isGroup = 'volumes' in snapshot;
  const facts: [string, string][] = [
    [isGroup ? 'group snapshot' : 'snapshot', `${key.namespace}/${key.id}`],
    ['of', sourcesOf(snapshot)],
    ['plugin', plugin],
    ...(snapshot.driver === undefined ? [] : [['driver', snapshot.driver] satisfies [string, string]]),
    ['state', error ? `${state}: ${error.message}` : state],
    ...(step === state ? [] : [['step', step] satisfies [string, string]]),
    ['csi id', csiId ?? 'not created yet'],
    ['taken', takenText(snapshot)],
    ...(snapshot.home === undefined ? [] : [['home', `node ${snapshot.home}`] satisfies [string, string]]),
    ...(isGroup ? [] : [['size', sizeText(snapshot.sizeBytes)] satisfies [string, string]]),
    ...leftovers.map((what): [string, string] => ['left behind', what]),
  ];
  const members = isGroup ? snapshot.snapshots : [];
  const rows = members.map(({ csiId: id, volume, sizeBytes }) => [
    volume ? `${volume.namespace}/${volume.id}` : '-',
    id,
    sizeText(sizeBytes),
  ]);
  return [factsTable(facts), ...(rows.length > 0 ? [table(['VOLUME', 'CSI ID', 'SIZE'], rows)] : [])].join('\n\n');
}
