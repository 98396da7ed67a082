/** Secrets in texts of plugins: no form in which a driver prints them stays. */
import { expect } from 'chai';
import fc from 'fast-check';
import { maskSecrets } from '../../src/host/mask-secrets.js';

const least = 3;
const secret = 'p@ss word/17+ü';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('masks of secrets', () => {
  const forms: [what: string, text: string, rest?: string][] = [
    ['as it is', secret],
    ['in hex', Buffer.from(secret).toString('hex')],
    ['in hex with capitals', Buffer.from(secret).toString('hex').toUpperCase()],
    ['in a URL', encodeURIComponent(secret)],
    ['in a query', new URLSearchParams({ a: secret }).toString().slice(2)],
    ['in base64 without padding', Buffer.from(secret).toString('base64').replace(/=+$/, '')],
    ['in base64 for URLs', Buffer.from(secret).toString('base64url')],
  ];
  for (const [what, text] of forms)
    it(`34.11 a secret ${what} is masked`, () => {
      expect(maskSecrets(`login with ${text}: refused`, [secret], least)).to.equal('login with ***: refused');
    });

  it('34.11 a secret within a text in base64 is masked, whatever stands before it', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 9, unit: 'binary' }),
        fc.string({ minLength: 12, maxLength: 40, unit: 'binary' }),
        (user, password) => {
          const told = maskSecrets(`Basic ${base64(`${user}:${password}`)}`, [password], least);
          const bytes = Buffer.from(password);
          // Of the first and the last three bytes a part may stay, as their characters belong to others too.
          const middle = bytes.subarray(3, -3).toString('latin1');
          const left = Buffer.from(told.replace('Basic ', '').replace('***', '='), 'base64').toString('latin1');
          expect(left.includes(middle)).to.equal(false);
          expect(told).to.include('***');
        },
      ),
    );
  });

  it('34.11 short secrets in hex or base64 are parts of other words: they stay', () => {
    expect(maskSecrets('616263 abc YWJj', ['abc'], least)).to.equal('616263 *** YWJj');
  });
});
