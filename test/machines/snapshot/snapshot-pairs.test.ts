/**
 * Where each event leads from each state of the snapshot machine, held as a text: snapshot-pairs.txt. `UPDATE=1` writes it.
 * `stays`: the state is the same, and no call begins. `again`: the state is the same, and its call begins again.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import type { AnyEventObject } from 'xstate';
import type { Wait } from '../../../machines/kit/csi-types.js';
import type { SnapshotContext } from '../../../machines/snapshot/types.js';
import { asked, leaves, made, none, spec, step } from './snapshot-scene.js';

const failed = (code: string, final = false) => ({ failure: { code, message: code, final }, status: 'failed' });
const wait: Wait = { reason: 'the plugin is away', for: 'plugin' };
const other = { ...spec, parameters: { speed: 'high' } };

/** An event, and the data that it finds where that differs from what the state has. */
type Case = [name: string, event: AnyEventObject, data?: Partial<SnapshotContext>];

const requests: Case[] = [
  ['snapshot.create', { type: 'snapshot.create', spec, uid: 'u1', name: 'sc-u1' }],
  ['snapshot.create of another spec', { type: 'snapshot.create', spec: other, uid: 'u2', name: 'sc-u2' }],
  ['snapshot.delete', { type: 'snapshot.delete', force: false }],
  ['snapshot.delete with force', { type: 'snapshot.delete', force: true }],
  ['snapshot.retry', { type: 'snapshot.retry' }],
  ['snapshot.retry of a known id', { type: 'snapshot.retry' }, { left: { made: [made('snap-1')] } }],
  ['snapshot.retry of an unknown id', { type: 'snapshot.retry' }, { left: { made: [], asked: 'sc-u1' } }],
  ['snapshot.acknowledge', { type: 'snapshot.acknowledge' }],
];
const calls: Case[] = [
  ['wait.changed', { type: 'wait.changed', ...wait }],
  ['call.must-wait', { type: 'call.must-wait', ...wait }],
  ['call.again', { type: 'call.again', home: 'worker-1' }],
  ['call.admitted', { type: 'call.admitted' }],
  ['call.interrupted', { type: 'call.interrupted', ...failed('INTERRUPTED') }],
];
const outcomes: Case[] = [
  ['create.done', { type: 'create.done', made: made('snap-1') }],
  ['create.done, not ready', { type: 'create.done', made: made('snap-1', false) }],
  ['create.refused', { type: 'create.refused', ...failed('CSI_ERROR', true) }],
  ['create.unknown', { type: 'create.unknown', ...failed('CSI_ERROR') }],
  ['create.changed-nothing', { type: 'create.changed-nothing', ...failed('CSI_ERROR') }],
  ['create.no-room', { type: 'create.no-room', ...failed('CSI_ERROR') }],
  ['create.id-taken', { type: 'create.id-taken', ...failed('CSI_ID_TAKEN', true) }],
  ['create.given-up', { type: 'create.given-up', ...failed('CSI_ERROR') }],
  ['create.given-up, refused', { type: 'create.given-up', ...failed('CSI_ERROR', true) }],
  ['look.done', { type: 'look.done', made: made('snap-1') }],
  ['look.done, not ready', { type: 'look.done', made: made('snap-1', false) }],
  ['look.done, another id', { type: 'look.done', made: made('snap-2') }],
  ['look.refused', { type: 'look.refused', ...failed('CSI_ERROR', true) }],
  ['look.failed', { type: 'look.failed', ...failed('CSI_ERROR') }],
  ['remove.done', { type: 'remove.done' }],
  ['remove.done, more to remove', { type: 'remove.done' }, { discards: [made('snap-1'), made('snap-2')] }],
  ['remove.done, something left', { type: 'remove.done' }, { leftovers: ['snap-0: it hangs'] }],
  ['remove.done, untrusted three times', { type: 'remove.done' }, { untrusted: 3 }],
  ['remove.refused', { type: 'remove.refused', ...failed('CSI_ERROR', true) }],
  ['remove.failed', { type: 'remove.failed', ...failed('CSI_ERROR') }],
  ['remove.given-up', { type: 'remove.given-up', ...failed('CSI_ERROR') }],
  [
    'remove.given-up, more to remove',
    { type: 'remove.given-up', ...failed('CSI_ERROR') },
    { discards: [made('snap-1'), made('snap-2')] },
  ],
];

/** Data that fits a state. */
function dataOf(path: string): SnapshotContext {
  if (path === 'absent') return none;
  if (path.endsWith('.waiting-for-plugin'))
    return { ...dataOf(path.replace('waiting-for-plugin', '')), awaiting: wait };
  if (/removing-untrusted|removal/.test(path)) return { ...asked, untrusted: 1, discards: [made('snap-1')] };
  if (/waiting-until-ready|readiness/.test(path)) return { ...asked, csi: made('snap-1', false) };
  if (/ready|pending-delete|deletion/.test(path)) return { ...asked, csi: made('snap-1') };
  return path === 'left-behind' ? { ...asked, leftovers: ['snap-1: it hangs'] } : asked;
}

function outcomeOf(path: string, [, event, data]: Case): string {
  try {
    const { path: to, calls: begun, answer } = step(path, { ...dataOf(path), ...data }, event);
    if (answer && 'error' in answer) return `answers ${answer.error.code}`;
    if (to !== path) return `→ ${to}`;
    return begun.length > 0 ? 'again' : 'stays';
  } catch (error) {
    expect(String(error)).to.include(`does not expect '${event.type}' in its state`);
    return 'fault';
  }
}

/** One state: its events by what comes of them. A variant that leads where its event does is left out. */
function blockOf(path: string): string {
  const timer: Case = ['its time has come', { type: `xstate.after.untilDue.volume-snapshot.${path}` }];
  const cases = [...requests, ...(path.endsWith('backing-off') ? [timer] : []), ...calls, ...outcomes];
  const byEvent = new Map<string, string>();
  const byOutcome = new Map<string, string[]>();
  for (const one of cases) {
    const [name, { type }] = one;
    const outcome = outcomeOf(path, one);
    if (byEvent.get(type) === outcome) continue;
    byEvent.set(type, byEvent.get(type) ?? outcome);
    byOutcome.set(outcome, [...(byOutcome.get(outcome) ?? []), name]);
  }
  const faults = kindsOf([...byEvent].filter(([, outcome]) => outcome === 'fault').map(([type]) => type));
  byOutcome.delete('fault');
  const lines = [...byOutcome].map(([outcome, names]) => `  ${outcome}: ${names.join('; ')}`);
  return [path, ...lines, `  fault: ${faults.join('; ')}`, ''].join('\n');
}

/** `look.*` where all events of that kind are meant. */
function kindsOf(types: string[]): string[] {
  const all = [...calls, ...outcomes].map(([, { type }]) => type);
  const kindOf = (type: string): string => `${type.split('.')[0]}.*`;
  const isWhole = (kind: string): boolean => all.every((type) => kindOf(type) !== kind || types.includes(type));
  return [...new Set(types.map((type) => (isWhole(kindOf(type)) ? kindOf(type) : type)))];
}

describe('states of a snapshot', () => {
  it('V10 each event leads from each state where the table says, and nowhere else', () => {
    const file = new URL('snapshot-pairs.txt', import.meta.url);
    const happens = leaves.map(blockOf).join('\n');
    if (process.env.UPDATE === '1') writeFileSync(file, happens);
    expect(happens).to.equal(readFileSync(file, 'utf8'));
  });

  it('V10 only states that make a call, or wait to, accept what comes of one', () => {
    const accepting = leaves.filter((path) => [...calls, ...outcomes].some((one) => outcomeOf(path, one) !== 'fault'));
    expect(accepting).to.deep.equal(leaves.filter((path) => /\.calling\b|\.waiting-for-plugin$/.test(path)));
  });

  it('V11 an attempt that is to be repeated without delay is: no timer, and no further commit', () => {
    const event = {
      type: 'xstate.done.actor.createSnapshot',
      output: { ...failed('CSI_ERROR'), retry: { initialMs: 0, maxMs: 0 } },
    };
    const { path, calls: begun } = step('pending-create.calling.wanted', asked, event);
    expect([path, ...begun]).to.deep.equal(['create-in-doubt.calling.wanted', 'createSnapshot sc-u1']);
  });
});
