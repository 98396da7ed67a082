/** The codes of failures: only those of the error table; what other code threw is kept beside them. */
import { expect } from 'chai';
import { failureIn } from '../../machines/kit/host.js';
import { callFailureOf } from '../../src/calls/call-failure.js';
import { StagecraftError } from '../../src/errors.js';

const thrownWith = (code: unknown): Error => Object.assign(new Error('sealed'), { code });

describe('codes of failures', () => {
  it('an effect throws a code of ours: the machine keeps it', () => {
    const error = { code: 'PLUGIN_LACKS', message: 'no', final: true };
    expect(failureIn({ type: 'xstate.error.actor.x', error })).to.deep.equal(error);
  });

  for (const code of ['VAULT_SEALED', 'ENOENT', 'constructor', '__proto__']) {
    it(`an effect throws the foreign code ${code}: EFFECT_FAILED, the code beside it`, () => {
      const failure = failureIn({ type: 'xstate.error.actor.x', error: { code, message: 'sealed', final: false } });
      expect(failure).to.deep.equal({
        code: 'EFFECT_FAILED',
        originalCode: code,
        message: 'sealed',
        final: false,
      });
    });

    it(`a call throws the foreign code ${code}: CALL_FAILED, the code beside it`, () => {
      const expected = { code: 'CALL_FAILED', originalCode: code, message: 'sealed', final: false };
      expect(callFailureOf(thrownWith(code))).to.deep.equal(expected);
    });
  }

  for (const code of [undefined, 14, null, {}]) {
    it(`a call throws an error whose code is ${JSON.stringify(code)}: CALL_FAILED`, () => {
      expect(callFailureOf(thrownWith(code))).to.deep.equal({ code: 'CALL_FAILED', message: 'sealed', final: false });
    });
  }

  it('a failed call becomes an error and a failure again: its original code is still there', () => {
    const { code, message, ...details } = callFailureOf(thrownWith('VAULT_SEALED'));
    expect(callFailureOf(new StagecraftError(code, message, details))).to.include({
      code,
      originalCode: 'VAULT_SEALED',
    });
  });
});
