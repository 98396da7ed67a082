/**
 * Tests the migration of snapshots with 100 recorded histories of version 1. A recorded line is one commit: its event and
 * stamp, the calls that it began, and its broadcasts. Each migrated commit must equal version 2's step from the one before.
 */
import { expect } from 'chai';
import type { AnyEventObject, AnyMachineSnapshot, StateValue } from 'xstate';
import { groupSnapshotMachine, volumeSnapshotMachine } from '../../machines/index.js';
import { snapshotAddress } from '../../machines/kit/addresses.js';
import { pathOf as statePath } from '../../machines/kit/state-path.js';
import type { MadeSnapshot } from '../../machines/snapshot/types.js';
import { type ActorRecord, encode, type JournalEntry } from '../../src/engine/actor/actor-record.js';
import { applyEntry } from '../../src/engine/actor/step.js';
import { isGone } from '../../src/engine/actor/step-result.js';
import { HostedMachine, type StartedEffect } from '../../src/engine/machine/hosted-machine.js';
import { type FlaggedSnapshot, migratedSnapshot } from '../../src/snapshots/snapshot-migration.js';
import { linesOf } from '../histories/recorded.js';
import { VolumeHouse } from '../volumes/volume-house.js';

/** Commit of version 1. Without a value, the snapshot was gone. */
interface Recorded extends Pick<JournalEntry, 'seq' | 'at' | 'random' | 'kind' | 'input' | 'event'> {
  seed: number;
  address: string;
  value?: StateValue;
  context?: FlaggedSnapshot;
  begun?: StartedEffect[];
  told?: AnyEventObject[];
}

const recorded = linesOf<Recorded>('1', 'snapshots');
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Maps two states of version 2 to one: version 1 did not record which of the two calls was under way. */
const asRecorded = (value: StateValue): StateValue =>
  statePath(value) === 'create-in-doubt.calling.to-be-deleted' ? { 'finding-out': 'calling' } : value;

const pathOf = ({ value }: AnyMachineSnapshot): string => statePath(value);
const mustWait = (invoke: string, reason: string) => ({
  type: `xstate.done.actor.${invoke}`,
  output: { status: 'must-wait', reason, for: 'plugin' },
});

/**
 * Turns an event of version 1 into one of the present version. In version 1 the effect of the call itself waited, reported
 * that by an event, and was started again after a restart.
 */
function asPresent(event: AnyEventObject, before: AnyMachineSnapshot, invoke: string): AnyEventObject {
  const path = pathOf(before);
  const isWaiting = path.endsWith('.waiting-for-plugin');
  if (event.type.startsWith('xstate.after.'))
    return { ...event, type: `xstate.after.untilDue.${before.machine.id}.${path}` };
  if (event.type === 'call.awaits')
    return isWaiting
      ? { ...event, type: 'wait.changed', for: 'plugin' }
      : { ...event, ...mustWait(invoke, event.reason) };
  if (!event.type.startsWith('xstate.done.actor.')) return event;
  const { status, anew } = event.output;
  if (anew && isWaiting) return { ...event, type: `xstate.done.actor.${invoke}`, output: { status: 'admitted' } };
  if (anew && status === 'not-begun') return { ...event, output: { status: 'call-again' } };
  const error = { code: 'INTERRUPTED', message: 'it may have been done', final: false };
  const { output: _, ...rest } = event;
  if (anew) return { ...rest, type: `xstate.error.actor.${invoke}`, error };
  return status === 'not-begun' ? { ...event, output: { ...event.output, status: 'not-sent' } } : event;
}

/** Version 1 counted every round in doubt; now a round that only the end of the runtime cut off is not counted. */
function counted(before: AnyMachineSnapshot, event: AnyEventObject | undefined): AnyMachineSnapshot {
  if (event?.output?.status !== 'done' || before.context.tries || !pathOf(before).startsWith('create-in-doubt.calling'))
    return before;
  const tries = {
    count: 1,
    notBeforeMs: 0,
    sinceMs: 0,
    failure: { code: 'INTERRUPTED', message: 'cut off', final: false },
  };
  return before.machine.resolveState({ value: before.value, context: { ...before.context, tries } });
}

describe('snapshots of version 1', () => {
  it('each commit equals the step of version 2 from the one before: state, data, calls and broadcasts', () => {
    const machines = new Map(
      [volumeSnapshotMachine, groupSnapshotMachine].map((one) => [one.id, HostedMachine.of(one)]),
    );
    const last = new Map<string, AnyMachineSnapshot | undefined>();
    let calls = 0;
    for (const row of recorded) {
      const name = `${row.address} of seed ${row.seed} at ${row.seq}`;
      const machine = machines.get(row.address.split('/')[0] ?? '');
      if (!machine) throw new Error(`no machine is at ${row.address}`);
      const actor = `${row.seed} ${row.address}`;
      const before = last.get(actor);
      let present = before;
      const invokeOf = (snapshot: AnyMachineSnapshot): string => machine.activeInvokes(snapshot)[0] ?? '';
      if (row.kind === 'event') {
        const event = row.event && before ? asPresent(row.event, before, invokeOf(before)) : row.event;
        const entry = { ...row, version: '3', source: { kind: 'engine' as const }, ...(event && { event }) };
        const { snapshot, started, emitted } = applyEntry(machine, before && counted(before, event), entry);
        present = isGone(snapshot) ? undefined : snapshot;
        expect(plain(emitted), `broadcasts of ${name}`).to.deep.equal(row.told ?? []);
        const reason = row.context?.awaiting?.reason;
        if (reason === undefined && before?.context.awaiting == null) {
          const active = present ? machine.activeInvokes(present) : [];
          const begun = started.filter(({ id }) => active.includes(id));
          expect(plain(begun), `calls of ${name}`).to.deep.equal(row.begun ?? []);
          calls += begun.length;
        }
        // Where a wait goes on in version 1, version 2 requests another call, which has to wait.
        if (present && reason !== undefined && !pathOf(present).endsWith('.waiting-for-plugin'))
          present = machine.step(present, mustWait(invokeOf(present), reason)).snapshot;
      }
      const old = row.value !== undefined && row.context ? migratedSnapshot(row.value, row.context) : undefined;
      const now = present && { value: asRecorded(present.value), context: present.context };
      expect(plain(now ?? null), name).to.deep.equal(plain(old ?? null));
      last.set(actor, present);
    }
    expect(calls).to.be.greaterThan(500);
  });

  it('each migrated state exists in the machine, with the calls that were under way', () => {
    const machine = HostedMachine.of(volumeSnapshotMachine);
    const seen = new Set<string>();
    for (const { value, context } of recorded) {
      if (value === undefined || !context) continue;
      const migrated = migratedSnapshot(value, context);
      const path = statePath(migrated.value);
      const calls = machine.activeInvokes(machine.restore(migrated));
      const ofVersion1 =
        statePath(value).endsWith('.removing') && !path.startsWith('pending-delete')
          ? 'removeUntrusted'
          : { create: 'createSnapshot', look: 'lookAtSnapshot', remove: 'deleteSnapshot' }[
              context.work?.kind ?? 'look'
            ];
      const isCalling = path.includes('.calling');
      const expected = path.endsWith('.waiting-for-plugin')
        ? [`${ofVersion1}Admission`]
        : isCalling
          ? [ofVersion1]
          : [];
      expect(calls, path).to.deep.equal(expected);
      seen.add(path);
    }
    expect(seen.size).to.be.greaterThan(20);
  });

  describe('in a store', () => {
    const address = snapshotAddress('default', 'monday');
    const made: MadeSnapshot = {
      csiId: 'snap-9',
      isReady: false,
      members: [{ csiId: 'snap-9', sourceCsiId: 'vol-9' }],
    };
    const flags: FlaggedSnapshot = {
      kind: 'volume-snapshot',
      key: { namespace: 'default', id: 'monday' },
      uid: 'u1',
      name: 'sc-u1',
      round: 0,
      spec: {
        plugin: 'disk',
        sources: [{ volume: { namespace: 'default', id: 'data' }, csiId: 'vol-9' }],
        parameters: {},
        secrets: {},
      },
      csi: null,
      discards: [],
      leftovers: [],
      creation: {},
      readiness: {},
      removal: {},
      deletion: null,
      work: null,
      awaiting: null,
    };
    let house: VolumeHouse;
    beforeEach(() => {
      house = new VolumeHouse();
      const volume = {
        id: 'vol-9',
        name: 'sc-data',
        isFound: true as const,
        capacityBytes: 1n,
        attached: new Set<string>(),
      };
      house.plugin.volumes.set(volume.id, volume);
    });
    afterEach(() => house.dispose());

    async function opened(envelope: Partial<ActorRecord>): Promise<void> {
      const whole = {
        format: 1,
        machine: 'volume-snapshot',
        version: '1',
        effects: [],
        timers: [],
        received: {},
        answers: [],
      };
      const entry = {
        seq: 3,
        at: 1,
        random: 0.5,
        kind: 'event' as const,
        version: '1',
        source: { kind: 'engine' as const },
      };
      await house.store.open();
      await house.store.commit([
        {
          address,
          commitId: 'recorded',
          expectedSeq: 0,
          seq: 3,
          epoch: 0,
          owner: 'recorded',
          text: encode({ ...whole, ...envelope }),
          journal: encode(entry),
          wakeAtMs: 0,
        },
      ]);
      await house.furnish();
      await house.clock.advance(300_000);
    }

    const calls = (): string[] =>
      house.plugin.calls
        .filter(({ rpc }) => rpc.endsWith('Snapshot'))
        .map(
          ({ rpc, request }) =>
            `${rpc} ${'name' in request ? request.name : 'snapshotId' in request ? request.snapshotId : ''}`,
        );

    it('V10 creation under way: in doubt, so the next snapshot is removed and created again', async () => {
      const input = {
        plugin: 'disk',
        secrets: {},
        isForced: false,
        name: 'sc-u1',
        sourceIds: ['vol-9'],
        parameters: {},
      };
      await opened({
        snapshot: { value: { 'pending-create': 'calling' }, context: { ...flags, work: { kind: 'create' } } },
        effects: [{ id: 'createSnapshot', src: 'createSnapshot', input, seq: 3 }],
      });
      expect(calls()).to.deep.equal(['CreateSnapshot sc-u1', 'DeleteSnapshot snap-1', 'CreateSnapshot sc-u1-1']);
      expect((await house.runtime.snapshots.get({ id: 'monday' }))?.state).to.equal('ready');
      const { migrations } = await migration();
      expect(migrations).to.deep.equal(['states instead of flags', 'other steps']);
    });

    it('V11 wait until ready: the timer has another name, and the next look comes at its time', async () => {
      const failure = { code: 'SNAPSHOT_NOT_READY' as const, message: 'not yet', final: false };
      const tries = { count: 3, notBeforeMs: house.clock.now() + 5_000, sinceMs: house.clock.now(), failure };
      const event = { type: 'xstate.after.untilDue.volume-snapshot.waiting.backing-off' };
      house.plugin.snapshots.set('snap-9', { id: 'snap-9', name: 'sc-u1', sources: ['vol-9'], unready: 0 });
      await opened({
        snapshot: {
          value: { waiting: 'backing-off' },
          context: { ...flags, csi: made, readiness: { tries }, work: { kind: 'look' } },
        },
        timers: [{ id: event.type, seq: 3, dueAtMs: tries.notBeforeMs, delayMs: 5_000, event }],
      });
      expect((await house.runtime.snapshots.get({ id: 'monday' }))?.state).to.equal('ready');
    });

    async function migration(): Promise<JournalEntry> {
      for await (const entry of house.runtime.journal.entries(address)) if (entry.kind === 'migrated') return entry;
      throw new Error('nothing was migrated');
    }
  });
});
