/** The states by which volumes and snapshots are listed. */
export const volumeStates = [
  'pending-create',
  'created',
  'pending-publish',
  'published',
  'pending-unpublish',
  'pending-expand',
  'pending-modify',
  'pending-delete',
  'deleted',
  'failed',
] as const;

export const snapshotStates = ['pending-create', 'waiting', 'ready', 'pending-delete', 'deleted', 'failed'] as const;
