/** What actors that hold nothing have in common. */
import { expect } from 'chai';
import { decodeRecord, emptyRecord, encode } from '../../../src/engine/actor/actor-record.js';

describe('the record of an actor that holds nothing', () => {
  const empty = emptyRecord({ name: 'plugin', version: '1' });

  it('made or read, then it shares its empty lists with others, and nobody can change them', () => {
    for (const { effects, timers, received, answers } of [empty, decodeRecord(encode(empty))]) {
      for (const shared of [effects, timers, received, answers]) expect(shared).to.be.frozen;
    }
  });

  it('read and written again, then its text is the same', () => {
    const text = encode({ ...empty, snapshot: { value: 'on', context: {} } });
    expect(encode(decodeRecord(text))).to.equal(text);
  });

  it('read and written again with all that an actor can have, then its text is the same', () => {
    const text = encode({
      ...empty,
      crashes: [1],
      quarantined: { at: 1, reason: 'it crashed' },
      doubts: { controllerPublish: { lastsMs: 125_000, recipients: [{ pid: 7 }] } },
    });
    expect(encode(decodeRecord(text))).to.equal(text);
  });

  it('damaged in its doubts, then it is not read', () => {
    const text = encode({ ...empty, doubts: { controllerPublish: { lastsMs: 125_000 } } }).replace('125000', '"long"');
    expect(() => decodeRecord(text)).to.throw('the in-doubt calls of the record are damaged');
  });

  it('written where who calls went to was not kept, then that is not known', () => {
    const text = encode({ ...empty, doubts: { controllerPublish: { lastsMs: 125_000 } } });
    const plain = text.replace('{"lastsMs":125000}', '125000');
    expect(encode(decodeRecord(plain))).to.equal(text);
  });
});
