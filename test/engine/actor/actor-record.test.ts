/** Records of actors: shared empty lists, encoding and decoding. */
import { expect } from 'chai';
import { decodeRecord, emptyRecord, encode } from '../../../src/engine/actor/actor-record.js';

describe('the record of an actor that holds nothing', () => {
  const empty = emptyRecord({ name: 'plugin', version: '1' });

  it('created or decoded: shares frozen empty lists with others', () => {
    for (const { effects, timers, received, answers } of [empty, decodeRecord(encode(empty))]) {
      for (const shared of [effects, timers, received, answers]) expect(shared).to.be.frozen;
    }
  });

  it('decoded and encoded again: the text is the same', () => {
    const text = encode({ ...empty, snapshot: { value: 'on', context: {} } });
    expect(encode(decodeRecord(text))).to.equal(text);
  });

  it('decoded and encoded again with all fields: the text is the same', () => {
    const text = encode({
      ...empty,
      crashes: [1],
      quarantined: { at: 1, reason: 'it crashed' },
      doubts: { controllerPublish: { lastsMs: 125_000, recipients: [{ pid: 7 }] } },
    });
    expect(encode(decodeRecord(text))).to.equal(text);
  });

  it('damaged in-doubt calls: not decoded', () => {
    const text = encode({ ...empty, doubts: { controllerPublish: { lastsMs: 125_000 } } }).replace('125000', '"long"');
    expect(() => decodeRecord(text)).to.throw('the in-doubt calls of the record are damaged');
  });

  it('older record without recipients of in-doubt calls: decoded with recipients unknown', () => {
    const text = encode({ ...empty, doubts: { controllerPublish: { lastsMs: 125_000 } } });
    const plain = text.replace('{"lastsMs":125000}', '125000');
    expect(encode(decodeRecord(plain))).to.equal(text);
  });
});
