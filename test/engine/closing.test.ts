/** Tests the refusal of requests once a part of the runtime was closed. */
import { expect } from 'chai';
import { Closing } from '../../src/engine/closing.js';
import { StagecraftError } from '../../src/errors.js';

describe('closing', () => {
  it('36.2 open: requests are accepted, and the signal is not aborted', () => {
    const closing = new Closing();
    closing.refuseIfClosed();
    expect(closing.reason).to.equal(undefined);
    expect(closing.signal.aborted).to.equal(false);
  });

  it('36.2 closed without a reason: each request is refused, as the runtime was closed', () => {
    const closing = new Closing();
    closing.close();
    expect(() => closing.refuseIfClosed())
      .to.throw(StagecraftError, 'the runtime was closed')
      .with.property('code', 'RUNTIME_CLOSED');
  });

  it('36.2 closed twice: the first reason stays, for requests and for the signal', () => {
    const closing = new Closing();
    const fenced = new StagecraftError('FENCED', 'another runtime has the lease');
    expect(closing.close(fenced)).to.equal(fenced);
    expect(closing.close()).to.equal(fenced);
    expect(() => closing.refuseIfClosed()).to.throw(fenced);
    expect(closing.signal.reason).to.equal(fenced);
  });
});
