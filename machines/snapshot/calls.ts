/** The call that a snapshot makes next, and the inputs of its calls. Pure. */
import { dueAtMs } from '../kit/backoff.js';
import { nameWithPlugin, nextToRemove } from './changes.js';
import { type SnapshotContext, snapshotChart } from './phases.js';
import type {
  CreateSnapshotCall,
  LookCall,
  MadeSnapshot,
  RemoveSnapshotCall,
  SnapshotCallKind,
  SnapshotData,
} from './types.js';

/** Kind of the call that the phase wants; undefined: none. */
export const wantedCall = ({ at }: Pick<SnapshotContext, 'at'>): SnapshotCallKind | undefined =>
  snapshotChart.metaOf({ at }).call;

/** Picks the next call: none is in progress. */
export function chosen(context: SnapshotContext, nowMs: number): Pick<SnapshotData, 'work' | 'awaiting'> {
  const kind = wantedCall(context);
  const dueMs = dueAtMs(context.tries ?? undefined, nowMs);
  return { work: kind ? { kind, dueAtMs: dueMs, isCalling: dueMs <= nowMs } : null, awaiting: null };
}

const callOf = ({ spec, isForced, home, driver }: SnapshotData) => {
  if (!spec) throw new Error('the snapshot has no spec yet');
  const { plugin, secrets } = spec;
  return { plugin, secrets, isForced, ...(home && { home }), ...(driver && { driver }) };
};

const memberIds = ({ members }: MadeSnapshot): string[] => members.map(({ csiId }) => csiId);

export const createCallOf = (data: SnapshotData): CreateSnapshotCall => ({
  ...callOf(data),
  name: nameWithPlugin(data),
  sourceIds: (data.spec?.sources ?? []).map(({ csiId }) => csiId),
  parameters: data.spec?.parameters ?? {},
});

export const lookCallOf = (data: SnapshotData): LookCall => {
  if (!data.csi) throw new Error('the snapshot has no id yet');
  return { ...createCallOf(data), csiId: data.csi.csiId, memberIds: memberIds(data.csi) };
};

export const removeCallOf = (data: SnapshotData): RemoveSnapshotCall => {
  const made = nextToRemove(data);
  if (!made) throw new Error('nothing is to be removed');
  return { ...callOf(data), csiId: made.csiId, memberIds: memberIds(made) };
};
