/** Tests answers that no driver should give to a unary call: none at all, two, or bytes that are no message. */
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import { RawAnswers } from './raw-answers.js';

/** `ready` is a message with the field `value`: here true. */
const isReady = Buffer.from([0x0a, 0x02, 0x08, 0x01]);

describe('odd answers to a unary call', () => {
  const raw = new RawAnswers('/csi.v1.Identity/Probe');
  const { client } = raw;
  before(() => raw.listen());
  after(() => raw.end());

  it('one answer: taken', async () => {
    raw.answers = [isReady];
    expect(await client.probe()).to.deep.equal({ ready: true });
  });

  it('no answer, and the status OK: UNIMPLEMENTED, says so', async () => {
    raw.answers = [];
    const failure = await refusalOf(client.probe());
    expect(failure).to.include({ code: 'CSI_ERROR', grpcCode: 'UNIMPLEMENTED' });
    expect(failure.message).to.equal('Probe: UNIMPLEMENTED: No message received');
  });

  it('two answers: neither is taken', async () => {
    raw.answers = [isReady, isReady];
    expect((await refusalOf(client.probe())).grpcCode).to.equal('UNIMPLEMENTED');
  });

  it('bytes that are no message: INTERNAL, and the connection goes on', async () => {
    raw.answers = [Buffer.from([0x0a, 0xff, 0xff])];
    const failure = await refusalOf(client.probe());
    expect(failure.grpcCode).to.equal('INTERNAL');
    expect(failure.message).to.include('its answer is not as CSI wants it');
    raw.answers = [isReady];
    expect(await client.probe()).to.deep.equal({ ready: true });
  });
});
