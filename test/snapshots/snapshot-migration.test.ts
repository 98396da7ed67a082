/** Tests migrations with recorded histories: the present machines must read each record of earlier versions, and go on. */
import { expect } from 'chai';
import { volumeSnapshotMachine } from '../../machines/index.js';
import { snapshotAddress } from '../../machines/kit/addresses.js';
import { pathOf } from '../../machines/kit/state-path.js';
import type { SnapshotContext } from '../../machines/snapshot/phases.js';
import { isBeingDeleted } from '../../machines/snapshot/states.js';
import { type ActorRecord, encode, type JournalEntry } from '../../src/engine/actor/actor-record.js';
import { HostedMachine } from '../../src/engine/machine/hosted-machine.js';
import { snapshotMigrations } from '../../src/snapshots/snapshot-migration.js';
import { recorded } from '../histories/recorded.js';
import { made, none, spec } from '../machines/snapshot/snapshot-scene.js';
import { VolumeHouse } from '../volumes/volume-house.js';

/** Effects that the versions 2 and 3 had in a state while its call was under way. */
const effects: Record<string, string> = {
  'pending-create': 'createSnapshot',
  'create-in-doubt': 'createSnapshot',
  'finding-out': 'createSnapshot',
  'waiting-until-ready': 'lookAtSnapshot',
  'removing-untrusted': 'removeUntrusted',
  'pending-delete': 'deleteSnapshot',
};

describe('snapshots of earlier versions', () => {
  const machine = HostedMachine.of(volumeSnapshotMachine);

  for (const version of ['2', '3'])
    it(`V10 version ${version}: each record is read, in its phase and with its call, and goes on`, () => {
      const seen = new Set<string>();
      for (const { value, context } of recorded(version, 'snapshots')) {
        const path = pathOf(value);
        const [outer = '', inner] = path.split('.');
        const before = snapshotMigrations
          .filter(({ from }) => from >= version)
          .reduce((snapshot, { migrate }) => migrate(snapshot), { value, context });
        const present = machine.restore(before);
        const { at } = before.context as SnapshotContext;
        const isMeanwhile = path.endsWith('.to-be-deleted');
        if (!isMeanwhile && path !== 'failed.unproven') expect(at, path).to.equal(outer === 'failed' ? path : outer);
        const call = inner === 'calling' ? [effects[outer]] : inner === 'waiting-for-plugin' ? ['admission'] : [];
        expect(machine.activeInvokes(present), path).to.deep.equal(call);
        const { snapshot } = machine.step(present, {
          type: 'snapshot.delete',
          force: true,
          at: 1_000_000,
          random: 0.5,
        });
        expect(isBeingDeleted(snapshot.context), path).to.equal(true);
        seen.add(path);
      }
      expect(seen.size).to.be.greaterThan(20);
    });

  describe('in a store', () => {
    const address = snapshotAddress('default', 'monday');
    const { work: _, ...data } = { ...none, spec, uid: 'u1', name: 'sc-u1' };
    const input = { plugin: 'disk', secrets: {}, isForced: false, name: 'sc-u1', sourceIds: ['vol-1'], parameters: {} };
    let house: VolumeHouse;
    beforeEach(() => {
      house = new VolumeHouse();
      const volume = { id: 'vol-1', name: 'sc-data', isFound: true as const, capacityBytes: 1n };
      house.plugin.volumes.set(volume.id, { ...volume, attached: new Set<string>() });
    });
    afterEach(() => house.dispose());

    async function opened(record: Partial<ActorRecord>): Promise<void> {
      const empty = { format: 1, effects: [], timers: [], received: {}, answers: [] };
      const text = encode({ ...empty, machine: 'volume-snapshot', version: '3', ...record });
      const source = { kind: 'engine' as const };
      const journal = encode({ seq: 3, at: 1, random: 0.5, kind: 'event', version: '3', source });
      const write = { address, commitId: 'recorded', owner: 'recorded', text, journal };
      await house.store.open();
      await house.store.commit([{ ...write, expectedSeq: 0, seq: 3, epoch: 0, wakeAtMs: 0 }]);
      await house.furnish();
      await house.clock.advance(300_000);
    }

    const calls = (): string[] =>
      house.plugin.calls.flatMap(({ rpc, request }) => {
        if (!rpc.endsWith('Snapshot')) return [];
        return `${rpc} ${'name' in request ? request.name : 'snapshotId' in request ? request.snapshotId : ''}`;
      });

    const stateNow = async (): Promise<string | undefined> =>
      (await house.runtime.snapshots.get({ id: 'monday' }))?.state;

    it('V10 creation under way: in doubt, so the next snapshot is removed and created again', async () => {
      await opened({
        snapshot: { value: { 'pending-create': { calling: 'wanted' } }, context: data },
        effects: [{ id: 'createSnapshot', src: 'createSnapshot', input, seq: 3 }],
      });
      expect(calls()).to.deep.equal(['CreateSnapshot sc-u1', 'DeleteSnapshot snap-1', 'CreateSnapshot sc-u1-1']);
      expect(await stateNow()).to.equal('ready');
      expect((await migration()).migrations).to.deep.equal(['a phase and one call']);
    });

    it('V13 deleted while its first call is under way: that call is repeated to learn the id, which is deleted', async () => {
      await opened({
        snapshot: { value: { 'pending-create': { calling: 'to-be-deleted' } }, context: data },
        effects: [{ id: 'createSnapshot', src: 'createSnapshot', input, seq: 3 }],
      });
      expect(calls()).to.deep.equal(['CreateSnapshot sc-u1', 'DeleteSnapshot snap-1']);
      expect(await stateNow()).to.equal(undefined);
    });

    it('V8 a call that waits: the wait has another name, and no call was made that is in doubt', async () => {
      const call = { src: 'createSnapshot', call: input, wait: { reason: 'away', for: 'plugin' } };
      await opened({
        snapshot: {
          value: { 'pending-create': 'waiting-for-plugin' },
          context: { ...data, awaiting: { reason: 'away', for: 'plugin' } },
        },
        effects: [{ id: 'createSnapshotAdmission', src: 'awaitAdmission', input: call, seq: 3 }],
      });
      expect(calls()).to.deep.equal(['CreateSnapshot sc-u1']);
      expect(await stateNow()).to.equal('ready');
    });

    it('V11 wait until ready: the timer has another name, and the next look comes at its time', async () => {
      const failure = { code: 'SNAPSHOT_NOT_READY' as const, message: 'not yet', final: false };
      const tries = { count: 3, notBeforeMs: house.clock.now() + 5_000, sinceMs: house.clock.now(), failure };
      const event = { type: 'xstate.after.untilDue.volume-snapshot.waiting-until-ready.backing-off' };
      house.plugin.snapshots.set('snap-9', { id: 'snap-9', name: 'sc-u1', sources: ['vol-1'], unready: 0 });
      await opened({
        snapshot: {
          value: { 'waiting-until-ready': 'backing-off' },
          context: { ...data, csi: made('snap-9', false), tries },
        },
        timers: [{ id: event.type, seq: 3, dueAtMs: tries.notBeforeMs, delayMs: 5_000, event }],
      });
      expect(await stateNow()).to.equal('ready');
    });

    async function migration(): Promise<JournalEntry> {
      for await (const entry of house.runtime.journal.entries(address)) if (entry.kind === 'migrated') return entry;
      throw new Error('nothing was migrated');
    }
  });
});
