/** Tests the copy of a record that each step begins with. */
import { expect } from 'chai';
import type { ActorRecord } from '../../../src/engine/actor/actor-record.js';
import { marked } from '../../../src/engine/actor/step-result.js';

/** A record with each of its fields. */
const whole: Required<ActorRecord> = {
  format: 1,
  machine: 'desk',
  version: '1',
  at: 7,
  snapshot: { value: 'open', context: {} },
  effects: [{ id: 'work', src: 'work', input: {}, seq: 3 }],
  timers: [{ id: 'later', seq: 3, dueAtMs: 9, delayMs: 2, event: { type: 'later' } }],
  received: { 'desk/b': [1, 0] },
  answers: [['r1', null]],
  crashes: [5],
  quarantined: { at: 6, reason: 'it crashed' },
  doubts: { work: { lastsMs: 10 } },
};

describe('copy of a record', () => {
  it('request without an id: every field is kept', () => {
    const ignore = (): void => {};
    const request = { kind: 'request', event: { type: 'read' }, resolve: ignore, reject: ignore } as const;
    const copy = marked(whole, { message: request, at: 8 }, undefined);
    expect(copy).to.deep.equal(whole);
    expect(copy).not.to.equal(whole);
  });
});
