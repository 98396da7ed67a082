/** Inputs of the calls that a snapshot makes. Pure. */
import { nameWithPlugin, nextToRemove } from './changes.js';
import type { CreateSnapshotCall, LookCall, MadeSnapshot, RemoveSnapshotCall, SnapshotContext } from './types.js';

const callOf = ({ spec, isForced, home, driver }: SnapshotContext) => {
  if (!spec) throw new Error('the snapshot has no spec yet');
  const { plugin, secrets } = spec;
  return { plugin, secrets, isForced, ...(home && { home }), ...(driver && { driver }) };
};

const memberIds = ({ members }: MadeSnapshot): string[] => members.map(({ csiId }) => csiId);

export const createCallOf = (context: SnapshotContext): CreateSnapshotCall => ({
  ...callOf(context),
  name: nameWithPlugin(context),
  sourceIds: (context.spec?.sources ?? []).map(({ csiId }) => csiId),
  parameters: context.spec?.parameters ?? {},
});

export const lookCallOf = (context: SnapshotContext): LookCall => {
  if (!context.csi) throw new Error('the snapshot has no id yet');
  return { ...createCallOf(context), csiId: context.csi.csiId, memberIds: memberIds(context.csi) };
};

export const removeCallOf = (context: SnapshotContext): RemoveSnapshotCall => {
  const made = nextToRemove(context);
  if (!made) throw new Error('nothing is to be removed');
  return { ...callOf(context), csiId: made.csiId, memberIds: memberIds(made) };
};
