/**
 * Where each event leads from each phase of a snapshot, held as a text: snapshot-pairs.txt. `UPDATE=1` writes it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { wantedCall } from '../../../machines/snapshot/calls.js';
import { type SnapshotContext, snapshotChart } from '../../../machines/snapshot/phases.js';
import type { SnapshotCallKind, SnapshotPhaseEvent } from '../../../machines/snapshot/types.js';
import { type Given, made, phases, recordOf, spec, stamp } from './snapshot-scene.js';

const failed = (code: 'CSI_ERROR' | 'CSI_ID_TAKEN', final = false) => ({
  failure: { code, message: code, final },
  status: 'failed' as const,
  ...stamp,
});
const other = { ...spec, parameters: { speed: 'high' } };

/** An event, and the data that it finds where that differs from what the state has. */
type Case = [name: string, event: SnapshotPhaseEvent, data?: Given];

const requests: Case[] = [
  ['snapshot.create', { type: 'snapshot.create', spec, uid: 'u1', name: 'sc-u1' }],
  ['snapshot.create of another spec', { type: 'snapshot.create', spec: other, uid: 'u2', name: 'sc-u2' }],
  ['snapshot.delete', { type: 'snapshot.delete', force: false, underWay: undefined }],
  ['snapshot.delete during the creation', { type: 'snapshot.delete', force: false, underWay: 'create' }],
  ['snapshot.delete with force', { type: 'snapshot.delete', force: true, underWay: undefined }],
  ['snapshot.retry', { type: 'snapshot.retry' }],
  ['snapshot.retry of a known id', { type: 'snapshot.retry' }, { left: { made: [made('snap-1')] } }],
  ['snapshot.retry of an unknown id', { type: 'snapshot.retry' }, { left: { made: [], asked: 'sc-u1' } }],
  ['snapshot.acknowledge', { type: 'snapshot.acknowledge' }],
];
const outcomes: Case[] = [
  ['call.not-made', { type: 'call.not-made' }],
  ['call.interrupted', { type: 'call.interrupted' }],
  ['create.done', { type: 'create.done', made: made('snap-1'), ...stamp }],
  ['create.done, not ready', { type: 'create.done', made: made('snap-1', false), ...stamp }],
  ['create.refused', { type: 'create.refused', ...failed('CSI_ERROR', true) }],
  ['create.unknown', { type: 'create.unknown', ...failed('CSI_ERROR') }],
  ['create.changed-nothing', { type: 'create.changed-nothing', ...failed('CSI_ERROR') }],
  ['create.no-room', { type: 'create.no-room', ...failed('CSI_ERROR') }],
  ['create.id-taken', { type: 'create.id-taken', ...failed('CSI_ID_TAKEN', true) }],
  ['create.given-up', { type: 'create.given-up', ...failed('CSI_ERROR') }],
  ['create.given-up, refused', { type: 'create.given-up', ...failed('CSI_ERROR', true) }],
  ['look.done', { type: 'look.done', made: made('snap-1'), ...stamp }],
  ['look.done, not ready', { type: 'look.done', made: made('snap-1', false), ...stamp }],
  ['look.done, another id', { type: 'look.done', made: made('snap-2'), ...stamp }],
  ['look.refused', { type: 'look.refused', ...failed('CSI_ERROR', true) }],
  ['look.failed', { type: 'look.failed', ...failed('CSI_ERROR') }],
  ['remove.done', { type: 'remove.done', ...stamp }],
  ['remove.done, more to remove', { type: 'remove.done', ...stamp }, { discards: [made('snap-1'), made('snap-2')] }],
  ['remove.done, something left', { type: 'remove.done', ...stamp }, { leftovers: ['snap-0: it hangs'] }],
  ['remove.done, untrusted three times', { type: 'remove.done', ...stamp }, { untrusted: 3 }],
  ['remove.refused', { type: 'remove.refused', ...failed('CSI_ERROR', true) }],
  ['remove.failed', { type: 'remove.failed', ...failed('CSI_ERROR') }],
  ['remove.given-up', { type: 'remove.given-up', ...failed('CSI_ERROR') }],
  [
    'remove.given-up, more to remove',
    { type: 'remove.given-up', ...failed('CSI_ERROR') },
    { discards: [made('snap-1'), made('snap-2')] },
  ],
];

/** Record that fits the phase. */
function fitting(at: SnapshotContext['at'], more: Given | undefined): SnapshotContext {
  if (/removing-untrusted|removal/.test(at)) return recordOf(at, { untrusted: 1, discards: [made('snap-1')], ...more });
  if (/waiting-until-ready|readiness/.test(at)) return recordOf(at, { csi: made('snap-1', false), ...more });
  if (/ready|pending-delete|deletion/.test(at)) return recordOf(at, { csi: made('snap-1'), ...more });
  return recordOf(at, at === 'left-behind' ? { leftovers: ['snap-1: it hangs'], ...more } : more);
}

function outcomeOf(at: SnapshotContext['at'], [, event, data]: Case): string {
  const before = fitting(at, data);
  try {
    const after = snapshotChart.step(before, event);
    if (after.at !== at) return `→ ${after.at}`;
    return after === before ? 'nothing' : 'stays';
  } catch (error) {
    expect(String(error)).to.include(`does not expect '${event.type}' while it is ${at}`);
    return 'fault';
  }
}

/** Lines of a phase: its events by their outcome. A variant with the outcome of its event is left out. */
function blockOf(at: SnapshotContext['at']): string {
  const byEvent = new Map<string, string>();
  const byOutcome = new Map<string, string[]>();
  for (const one of [...requests, ...outcomes]) {
    const [name, { type }] = one;
    const outcome = outcomeOf(at, one);
    if (byEvent.get(type) === outcome) continue;
    byEvent.set(type, byEvent.get(type) ?? outcome);
    byOutcome.set(outcome, [...(byOutcome.get(outcome) ?? []), name]);
  }
  byOutcome.delete('fault');
  const lines = [...byOutcome].map(([outcome, names]) => `  ${outcome}: ${names.join('; ')}`);
  return [at, ...lines, ''].join('\n');
}

/** Outcomes that each kind of call can have. */
const endings: Record<SnapshotCallKind, RegExp> = {
  create: /^(create|call)\./,
  look: /^(look|call)\./,
  remove: /^(remove|call)\./,
  delete: /^(remove|call)\./,
};

describe('phases of a snapshot', () => {
  it('V10 each event leads from each phase where the table says, and nowhere else', () => {
    const file = new URL('snapshot-pairs.txt', import.meta.url);
    const happens = phases.map(blockOf).join('\n');
    if (process.env.UPDATE === '1') writeFileSync(file, happens);
    expect(happens).to.equal(readFileSync(file, 'utf8'));
  });

  it('V10 a phase takes the outcomes of the calls that can be under way in it, and no others', () => {
    for (const at of phases) {
      const taken = outcomes.filter((one) => outcomeOf(at, one) !== 'fault').map(([, { type }]) => type);
      const wanted = wantedCall({ at });
      // A look that was under way when the deletion was asked for.
      const kinds: SnapshotCallKind[] = [
        ...(wanted ? [wanted] : []),
        ...(at === 'pending-delete' ? ['look' as const] : []),
      ];
      const possible = outcomes
        .map(([, { type }]) => type)
        .filter((type) => kinds.some((kind) => endings[kind].test(type)) && !isForcedOnly(at, type));
      expect(taken, at).to.deep.equal(possible);
    }
  });

  it('V13 no request ends a snapshot whose call is under way', () => {
    for (const at of phases) {
      const kind = wantedCall({ at });
      if (!kind) continue;
      for (const force of [false, true]) {
        const after = snapshotChart.step(fitting(at, undefined), { type: 'snapshot.delete', force, underWay: kind });
        expect(after.at, at).not.to.equal('absent');
        // The outcomes of that call are expected where the deletion has led.
        for (const one of outcomes) {
          const [, { type }] = one;
          const isTaken = outcomeOf(at, one) !== 'fault';
          if (isTaken)
            expect(outcomeOf(after.at, one), `${type} in ${after.at}, deleted while ${at}`).not.to.equal('fault');
        }
      }
    }
  });
});

/** Whether only a forced deletion has this outcome, and the phase is none. */
const isForcedOnly = (at: SnapshotContext['at'], type: string): boolean =>
  type.endsWith('.given-up') && !['finding-out-first-call', 'finding-out', 'pending-delete'].includes(at);
