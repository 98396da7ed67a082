/** Tests migrations with recorded histories: the present machine must read each record of earlier versions. */
import { expect } from 'chai';
import { pathOf } from '../../machines/kit/state-path.js';
import { mountMachine } from '../../machines/mount/mount.js';
import { mountParts, mountPathOf } from '../../machines/mount/states.js';
import type { MountContext } from '../../machines/mount/types.js';
import type { Hold } from '../../machines/volume/wishes.js';
import { HostedMachine } from '../../src/engine/machine/hosted-machine.js';
import { mountMigrations } from '../../src/mounts/migrations.js';
import { type Recorded, recorded } from '../histories/recorded.js';

function migrated({ value, context, ...line }: Recorded, migrations = mountMigrations): Recorded {
  return { ...line, ...migrations.reduce((snapshot, { migrate }) => migrate(snapshot), { value, context }) };
}

/** Steps of version 3 with other names in version 4. */
const renamed: Record<string, string> = {
  'pending-unpublish.publish-under-way': 'pending-unpublish.due',
  'pending-unpublish.first-publish': 'leaving-first-call',
  'replacing.first-publish': 'replacing-first-call',
  'in-doubt.waiting-for-users': 'in-doubt',
  'missing.waiting-for-request': 'missing',
  'dead.waiting-for-targets': 'dead',
  'found-dead.waiting-for-targets': 'found-dead',
};

/** Work whose pause is over is due, whichever of both it is called. */
const shownNow = (at: string): string => (renamed[at] ?? at).replace(/\.backing-off$/, '.due');

type OldUser = { allocId: string; at: string; isClaimed: boolean; hold?: number };
interface OldContext {
  staging: { at: string };
  users: OldUser[];
  unreported?: Hold[];
}

/** A failed mount without a claim is over: its caller was told. */
const isStillHere = ({ isClaimed, at }: OldUser): boolean => isClaimed || at !== 'failed';

/** Allocs that have a hold, or are mounted without a claim. */
const holdersIn = ({ users, unreported = [] }: OldContext): string[] => [
  ...new Set([
    ...unreported.map(({ allocId }) => allocId),
    ...users.flatMap(({ allocId, hold, isClaimed, at }) =>
      hold !== undefined || (!isClaimed && at !== 'failed') ? [allocId] : [],
    ),
  ]),
];

describe('records of mounts', () => {
  for (const version of ['2', '3'])
    it(`each of version ${version} is read by the present machine, in the state that it had`, () => {
      const machine = HostedMachine.of(mountMachine);
      const later = mountMigrations.filter(({ from }) => from >= version);
      for (const line of recorded<OldContext>(version, 'mounts')) {
        const { value, context } = machine.restore(migrated(line, later));
        expect(mountPathOf(value, context), line.address).to.equal(pathOf(line.value));
        const { staging, users } = line.context;
        const before = [staging, ...users.filter(isStillHere)].map(({ at }) => shownNow(at));
        expect(
          mountParts(context).map(({ at }) => shownNow(at)),
          line.address,
        ).to.deep.equal(before);
        const { holds = [] }: Pick<MountContext, 'holds'> = context;
        expect(holds.map(({ allocId }) => allocId)).to.have.members(holdersIn(line.context));
        for (const { allocId, hold } of users)
          if (hold !== undefined) expect(holds.find((one) => one.allocId === allocId)?.generation).to.be.at.least(hold);
      }
    });
});
