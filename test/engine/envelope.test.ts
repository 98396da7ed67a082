/** The record as text. */
import { expect } from 'chai';
import fc from 'fast-check';
import { decodeEnvelope, type Envelope, emptyEnvelope, encodeEnvelope } from '../../src/engine/envelope.js';

describe('the text of a record', () => {
  const name = fc.string({ minLength: 1, unit: 'binary' });
  const seq = fc.nat();
  const json = fc.jsonValue();
  const object = fc.dictionary(fc.string(), json);
  const always = {
    effects: fc.array(fc.record({ id: name, src: name, input: json, seq })),
    timers: fc.array(fc.record({ id: name, seq, dueAtMs: seq, event: fc.record({ type: name }) })),
    received: fc.dictionary(name, fc.tuple(seq, seq)),
    answers: fc.array(fc.tuple(name, fc.option(fc.record({ value: json })))),
  };
  const sometimes = {
    snapshot: fc.record({ value: name, context: object }),
    crashes: fc.array(seq),
    quarantined: fc.record({ at: seq, reason: name }),
  };
  const envelope: fc.Arbitrary<Envelope> = fc
    .tuple(fc.record(always), fc.record(sometimes, { requiredKeys: [] }))
    .map(([held, more]) => ({ ...emptyEnvelope({ name: 'a "name"', version: '1' }), ...held, ...more }));

  it('whatever it holds, then it is what JSON.stringify makes of it, byte for byte', () => {
    fc.assert(fc.property(envelope, (each) => encodeEnvelope(each) === JSON.stringify(each)));
  });

  it('it holds nothing but a snapshot, then it is the same, also when it was read and is written again', () => {
    const present = { ...emptyEnvelope({ name: 'plugin', version: '2' }), snapshot: { value: 'on', context: {} } };
    const text = encodeEnvelope(present);
    expect(text).to.equal(JSON.stringify(present));
    expect(encodeEnvelope(decodeEnvelope(text))).to.equal(text);
  });

  it('two actors hold nothing, then neither can change what the other has', () => {
    const { effects, timers, received, answers } = emptyEnvelope({ name: 'plugin', version: '1' });
    for (const shared of [effects, timers, received, answers]) expect(shared).to.be.frozen;
  });
});
