/** Migrates records of the mount machine from each older version to the next. Recorded histories prove it: test/mounts/migrations.test.ts */

import type { StagingData } from '../../machines/mount/staging-setup.js';
import { callStates } from '../../machines/mount/states.js';
import type { TargetData } from '../../machines/mount/target-setup.js';
import type { MountContext } from '../../machines/mount/types.js';
import type { Migration } from '../engine/effects/effects.js';

/** Version 3 takes other steps from the same records. */
const steps: Migration = { name: 'other steps', from: '2', to: '3', migrate: (snapshot) => snapshot };

/** Record of version 3: the path of a part's state ends with how far its call is. */
type OldContext = Pick<MountContext, 'work' | 'awaiting'> & {
  staging: StagingData & { at: string };
  users: (TargetData & { at: string })[];
};

const firstCalls: Record<string, string> = {
  'pending-unpublish.first-publish': 'leaving-first-call',
  'replacing.first-publish': 'replacing-first-call',
};

/** Leaves out how far the call is: the mount knows. */
const inPhase = <TPart extends { at: string }>(part: TPart): TPart => ({
  ...part,
  at: firstCalls[part.at] ?? part.at.replace(/\..*/, ''),
});

/** Version 4: parts are phases, and the mount has one call. */
const oneCall: Migration = {
  name: 'a mount has one call',
  from: '3',
  to: '4',
  migrate: ({ value, context, ...snapshot }) => {
    const { staging, users, work, awaiting } = context as OldContext;
    const called = work?.isCalling ? (awaiting ? 'waiting-for-plugin' : callStates[work.kind]) : 'backing-off';
    return {
      ...snapshot,
      value: work ? called : value,
      context: { ...context, staging: inPhase(staging), users: users.map(inPhase) },
    };
  },
};

export const mountMigrations: Migration[] = [steps, oneCall];
