/** What becomes of a snapshot: its record and an event, then the calls that begin, the record after that, and broadcasts. */
import { expect } from 'chai';
import type { AnyEventObject } from 'xstate';
import type { CallFailure, CallOutcome, Wait } from '../../../machines/kit/csi-types.js';
import { requested } from '../../../machines/snapshot/outcomes.js';
import type { SnapshotContext } from '../../../machines/snapshot/phases.js';
import type { MadeSnapshot, SnapshotWork } from '../../../machines/snapshot/types.js';
import { asked, type Given, made, recordOf, stamp, step } from './snapshot-scene.js';

type Phase = SnapshotContext['at'];

interface Row {
  name: string;
  /** The phase, and the data that is not as it was asked for. */
  record: [phase: Phase, data?: Given];
  event: AnyEventObject;
  calls: string[];
  /** State of the machine, the phase, and the data that has changed. */
  becomes: [state: string, phase: Phase, data?: Given];
  broadcasts?: object[];
}

const { at } = stamp;
const lost: CallFailure = { code: 'CSI_ERROR', message: 'no answer', final: false, rpc: 'CreateSnapshot' };
const full: CallFailure = { ...lost, message: 'full', grpcCode: 'RESOURCE_EXHAUSTED', answerClass: 'unknown' };
const refused: CallFailure = { code: 'CSI_ERROR', message: 'never', final: true };
const interrupted: AnyEventObject = {
  type: 'xstate.error.actor.createSnapshot',
  error: { code: 'INTERRUPTED', message: 'interrupted', final: false },
};
const away: Wait = { reason: 'the plugin is away', for: 'plugin' };
const unproven: CallFailure = {
  code: 'SNAPSHOT_UNPROVEN',
  message:
    "3 times plugin 'disk' did not say in time what became of it, so that what it made can't be trusted and was removed: " +
    'give its calls more time (calls.timeoutMs), then retry',
  final: true,
};

const ended = (id: string, output: CallOutcome<MadeSnapshot | null>): AnyEventObject => ({
  type: `xstate.done.actor.${id}`,
  output,
});
/** The delays of defaultBackoff, at a chance of one half. */
const tries = (count: number, failure: CallFailure, delayMs = 50 * 2 ** (count - 1)) => ({
  tries: { count, notBeforeMs: at + delayMs, sinceMs: at, failure },
});
const looking: SnapshotWork = { kind: 'look', dueAtMs: 0, isCalling: true };
const snap = made('snap-1');
const other = made('snap-2');

const rows: Row[] = [
  {
    name: 'V10 made by its first call: it is trusted, and its driver is learned',
    record: ['pending-create'],
    event: ended('createSnapshot', { status: 'done', answer: snap, driver: 'disk.example' }),
    calls: [],
    becomes: ['ready', 'ready', { csi: snap, driver: 'disk.example' }],
    broadcasts: [
      { type: 'created', csiId: 'snap-1' },
      { type: 'ready', csiId: 'snap-1' },
    ],
  },
  {
    name: 'V10 the first call has no answer: it may have been made',
    record: ['pending-create'],
    event: ended('createSnapshot', { status: 'failed', failure: lost }),
    calls: [],
    becomes: ['backing-off', 'create-in-doubt', tries(1, lost)],
  },
  {
    name: 'V10 the runtime ended during its first call: it may have been made, and is asked for at once',
    record: ['pending-create'],
    event: interrupted,
    calls: ['createSnapshot sc-u1'],
    becomes: ['pending-create', 'create-in-doubt'],
  },
  {
    name: 'V10 the plugin is away: no call was made, and the wait is a state',
    record: ['pending-create'],
    event: ended('createSnapshot', { status: 'must-wait', ...away }),
    calls: ['awaitAdmission createSnapshot, for the plugin'],
    becomes: ['waiting-for-plugin', 'pending-create', { awaiting: away }],
  },
  {
    name: 'V10 admitted: the call is made',
    record: ['pending-create', { awaiting: away }],
    event: { type: 'xstate.done.actor.admission', output: { status: 'admitted' } },
    calls: ['createSnapshot sc-u1'],
    becomes: ['pending-create', 'pending-create', { awaiting: null }],
  },
  {
    name: 'V13 deleted while its first call waits: nothing was made',
    record: ['pending-create', { awaiting: away }],
    event: { type: 'snapshot.delete', force: false },
    calls: [],
    becomes: ['absent', 'absent', { awaiting: null }],
    broadcasts: [{ type: 'deleted' }],
  },
  {
    name: 'V13, 35.8 the deletion is meant for one that had this key before: this one stays',
    record: ['ready', { csi: snap }],
    event: { type: 'snapshot.delete', force: true, uid: 'another' },
    calls: [],
    becomes: ['ready', 'ready'],
  },
  {
    name: 'V13 deleted while a repeat waits: the wait goes on, and its id is found out then',
    record: ['create-in-doubt', { awaiting: away }],
    event: { type: 'snapshot.delete', force: false },
    calls: [],
    becomes: ['waiting-for-plugin', 'finding-out'],
  },
  {
    name: 'V13 deleted with force while a repeat waits: a call that waits for a while only begins',
    record: ['create-in-doubt', { awaiting: away }],
    event: { type: 'snapshot.delete', force: true },
    calls: ['createSnapshot sc-u1 forced'],
    becomes: ['pending-create', 'finding-out', { isForced: true, awaiting: null }],
  },
  {
    name: 'V13 with force, its plugin away for too long: no call was made, which counts as an attempt',
    record: ['pending-delete', { csi: snap, isForced: true, awaiting: away }],
    event: {
      type: 'xstate.done.actor.admission',
      output: { status: 'not-sent', failure: { code: 'PLUGIN_UNAVAILABLE', message: 'away', final: false } },
    },
    calls: [],
    becomes: [
      'backing-off',
      'pending-delete',
      { awaiting: null, ...tries(1, { code: 'PLUGIN_UNAVAILABLE', message: 'away', final: false }) },
    ],
  },
  {
    name: 'V8 another node is its home: kept, and the call is made again',
    record: ['pending-create'],
    event: ended('createSnapshot', { status: 'call-again', home: 'worker-1' }),
    calls: ['createSnapshot sc-u1'],
    becomes: ['pending-create', 'pending-create', { home: 'worker-1' }],
  },
  {
    name: 'V10 busy: that call made none, whatever the one before did',
    record: ['create-in-doubt', tries(1, lost, 0)],
    event: ended('createSnapshot', { status: 'failed', failure: { ...lost, answerClass: 'busy' } }),
    calls: [],
    becomes: ['backing-off', 'create-in-doubt', tries(2, { ...lost, answerClass: 'busy' })],
  },
  {
    name: 'V10 answered after a call without an answer: removed under this name, to be made under the next',
    record: ['create-in-doubt', tries(2, lost, 0)],
    event: ended('createSnapshot', { status: 'done', answer: snap }),
    calls: ['deleteSnapshot snap-1'],
    becomes: ['removing-untrusted', 'removing-untrusted', { discards: [snap], round: 1, untrusted: 1, tries: null }],
    broadcasts: [{ type: 'untrusted', csiId: 'snap-1' }],
  },
  {
    name: 'V10 an untrusted one is removed: made again under another name',
    record: ['removing-untrusted', { discards: [snap], round: 1, untrusted: 1 }],
    event: ended('removeUntrusted', { status: 'done', answer: null }),
    calls: ['createSnapshot sc-u1-1'],
    becomes: ['pending-create', 'pending-create', { discards: [] }],
  },
  {
    name: 'V10 untrusted for the third time: said at once, and failed when it is removed',
    record: ['create-in-doubt', { round: 2, untrusted: 2, ...tries(1, lost, 0) }],
    event: ended('createSnapshot', { status: 'done', answer: snap }),
    calls: ['deleteSnapshot snap-1'],
    becomes: [
      'removing-untrusted',
      'removing-untrusted',
      { discards: [snap], round: 3, untrusted: 3, tries: null, failure: unproven },
    ],
    broadcasts: [
      { type: 'untrusted', csiId: 'snap-1' },
      { type: 'failed', failure: unproven },
    ],
  },
  {
    name: 'V10 the third untrusted one is removed: no further one is made',
    record: ['removing-untrusted', { discards: [snap], untrusted: 3, failure: unproven }],
    event: ended('removeUntrusted', { status: 'done', answer: null }),
    calls: [],
    becomes: ['failed', 'failed.refused', { discards: [] }],
  },
  {
    name: 'V10 a retry after the third untrusted one: the count begins again',
    record: ['failed.refused', { untrusted: 3, failure: unproven }],
    event: { type: 'snapshot.retry' },
    calls: ['createSnapshot sc-u1'],
    becomes: ['pending-create', 'pending-create', { untrusted: 0, failure: null }],
  },
  {
    name: 'V10 looked at, another id is shown: both are removed, and it is made again',
    record: ['waiting-until-ready', { csi: made('snap-1', false) }],
    event: ended('lookAtSnapshot', { status: 'done', answer: other }),
    calls: ['deleteSnapshot snap-1'],
    becomes: [
      'removing-untrusted',
      'removing-untrusted',
      { csi: null, discards: [made('snap-1', false), other], round: 1, untrusted: 1 },
    ],
    broadcasts: [
      { type: 'untrusted', csiId: 'snap-1' },
      { type: 'untrusted', csiId: 'snap-2' },
    ],
  },
  {
    name: 'V16 the plugin gives the id of another: it has none of this, whatever calls before did',
    record: ['create-in-doubt', tries(1, lost, 0)],
    event: ended('createSnapshot', { status: 'failed', failure: { ...refused, code: 'CSI_ID_TAKEN' } }),
    calls: [],
    becomes: ['failed', 'failed.refused', { tries: null, failure: { ...refused, code: 'CSI_ID_TAKEN' } }],
    broadcasts: [{ type: 'failed', failure: { ...refused, code: 'CSI_ID_TAKEN' } }],
  },
  {
    name: 'V13 deleted while its first call is under way: the call goes on',
    record: ['pending-create'],
    event: { type: 'snapshot.delete', force: false },
    calls: [],
    becomes: ['pending-create', 'finding-out-first-call'],
  },
  {
    name: 'V13 deleted meanwhile, then made: it is removed, and nobody hears that it was created',
    record: ['finding-out-first-call'],
    event: ended('createSnapshot', { status: 'done', answer: snap }),
    calls: ['deleteSnapshot snap-1'],
    becomes: ['pending-delete', 'pending-delete', { csi: snap }],
  },
  {
    name: 'V13 deleted meanwhile, then no answer: the same call is repeated to learn its id',
    record: ['finding-out-first-call'],
    event: interrupted,
    calls: ['createSnapshot sc-u1'],
    becomes: ['pending-create', 'finding-out'],
  },
  {
    name: 'V13 deleted meanwhile, and the first call turns out not to be made: nothing is there',
    record: ['finding-out-first-call'],
    event: ended('createSnapshot', { status: 'must-wait', ...away }),
    calls: [],
    becomes: ['absent', 'absent'],
    broadcasts: [{ type: 'deleted' }],
  },
  {
    name: 'V13 deleted meanwhile, then refused: nothing was made, and that is said',
    record: ['finding-out-first-call'],
    event: ended('createSnapshot', { status: 'failed', failure: refused }),
    calls: [],
    becomes: ['absent', 'absent', { failure: refused }],
    broadcasts: [{ type: 'failed', failure: refused }, { type: 'deleted' }],
  },
  {
    name: 'V13 deleted while it is looked at: the call goes on',
    record: ['waiting-until-ready', { csi: made('snap-1', false) }],
    event: { type: 'snapshot.delete', force: false },
    calls: [],
    becomes: ['waiting-until-ready', 'pending-delete', { csi: made('snap-1', false), work: looking }],
  },
  {
    name: 'V13 deleted meanwhile, then seen to be ready: it is removed, and nobody hears of that',
    record: ['pending-delete', { csi: made('snap-1', false), work: looking }],
    event: ended('lookAtSnapshot', { status: 'done', answer: snap }),
    calls: ['deleteSnapshot snap-1'],
    becomes: ['pending-delete', 'pending-delete', { csi: snap }],
  },
  {
    name: 'V13 deleted meanwhile, then another id is seen: both are removed',
    record: ['pending-delete', { csi: snap, work: looking }],
    event: ended('lookAtSnapshot', { status: 'done', answer: other }),
    calls: ['deleteSnapshot snap-1'],
    becomes: ['pending-delete', 'pending-delete', { csi: null, discards: [snap, other] }],
  },
  {
    name: 'V13 deleted meanwhile, and the look has to wait: nobody needs it, and it is removed',
    record: ['pending-delete', { csi: snap, work: looking }],
    event: ended('lookAtSnapshot', { status: 'must-wait', ...away }),
    calls: ['deleteSnapshot snap-1'],
    becomes: ['pending-delete', 'pending-delete', {}],
  },
  {
    name: 'V13 deleted while an untrusted one is removed: its outcome counts for the deletion',
    record: ['pending-delete', { discards: [snap], work: { kind: 'remove', dueAtMs: 0, isCalling: true } }],
    event: ended('removeUntrusted', { status: 'done', answer: null }),
    calls: [],
    becomes: ['absent', 'absent', { discards: [] }],
    broadcasts: [{ type: 'deleted' }],
  },
  {
    name: 'V10 the third untrusted one can not be removed: failed, by the reason that holds it up',
    record: ['removing-untrusted', { discards: [snap], untrusted: 3, failure: unproven }],
    event: ended('removeUntrusted', { status: 'failed', failure: refused }),
    calls: [],
    becomes: ['failed', 'failed.removal', { failure: refused }],
    broadcasts: [{ type: 'failed', failure: refused }],
  },
  {
    name: 'V11 an attempt that is to be repeated without delay is: no timer, and no further commit',
    record: ['pending-create'],
    event: ended('createSnapshot', { status: 'failed', failure: lost, retry: { initialMs: 0, maxMs: 0 } }),
    calls: ['createSnapshot sc-u1'],
    becomes: ['pending-create', 'create-in-doubt', tries(1, lost, 0)],
  },
  {
    name: 'V13 no room while its id is found out: asked again later, with advice',
    record: ['finding-out'],
    event: ended('createSnapshot', { status: 'failed', failure: full }),
    calls: [],
    becomes: [
      'backing-off',
      'finding-out',
      tries(1, {
        ...full,
        message:
          'full; it may have been made all the same: once there is room, retry makes it anew, and a deletion asks for it ' +
          'once more, to find out and remove it; with force it is given up',
      }),
    ],
  },
  {
    name: 'V13 deleted with force, and its id is not found out: it may be left behind, by its name',
    record: ['finding-out', { isForced: true, ...tries(2, lost, 0) }],
    event: ended('createSnapshot', { status: 'failed', failure: lost }),
    calls: [],
    becomes: [
      'left-behind',
      'left-behind',
      { tries: null, leftovers: ['what was asked for as sc-u1: no answer'], left: { made: [], asked: 'sc-u1' } },
    ],
    broadcasts: [{ type: 'deleted', leftovers: ['what was asked for as sc-u1: no answer'] }],
  },
  {
    name: 'V13 deleted with force, one of two refused: the other is removed all the same',
    record: ['pending-delete', { isForced: true, discards: [snap, other] }],
    event: ended('deleteSnapshot', { status: 'failed', failure: refused }),
    calls: ['deleteSnapshot snap-2 forced'],
    becomes: [
      'pending-delete',
      'pending-delete',
      { discards: [other], leftovers: ['snap-1: never'], left: { made: [snap] } },
    ],
  },
  {
    name: 'V13 a retry of what a forced deletion left: removed with force once more',
    record: ['left-behind', { isForced: true, leftovers: ['snap-1: never'], left: { made: [snap] } }],
    event: { type: 'snapshot.retry' },
    calls: ['deleteSnapshot snap-1 forced'],
    becomes: ['pending-delete', 'pending-delete', { discards: [snap], leftovers: [], left: { made: [] } }],
  },
  {
    name: 'V13 forced while its call waits: a call that waits for a while only begins',
    record: ['pending-delete', { csi: snap, awaiting: { reason: 'the plugin is away', for: 'plugin' } }],
    event: { type: 'snapshot.delete', force: true },
    calls: ['deleteSnapshot snap-1 forced'],
    becomes: ['pending-delete', 'pending-delete', { isForced: true, awaiting: null }],
  },
];

describe('a snapshot, step by step', () => {
  for (const { name, record, event, calls, becomes, broadcasts = [] } of rows)
    it(name, () => {
      const before = recordOf(...record);
      const after = step(before, event);
      expect(after.calls).to.deep.equal(calls);
      const [state, at, data] = becomes;
      expect([after.state, after.context]).to.deep.equal([
        state,
        recordOf(at, { ...record[1], work: undefined, ...data }),
      ]);
      const of = { key: asked.key, uid: asked.uid };
      expect(after.emitted).to.deep.equal(broadcasts.map((one) => ({ ...of, ...one })));
    });

  it('V13 a request never ends a snapshot whose call is under way: somebody has to take its outcome', () => {
    const damaged = recordOf('failed.refused', { work: { kind: 'create', dueAtMs: 0, isCalling: true } });
    expect(() => requested(damaged, { type: 'snapshot.delete', force: false })).to.throw(
      "'snapshot.delete' ends the snapshot while its call 'create' is under way",
    );
  });
});
