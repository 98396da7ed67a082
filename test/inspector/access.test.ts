/** Access to the listener for browsers. */

import type { IncomingHttpHeaders } from 'node:http';
import { expect } from 'chai';
import { Access } from '../../src/inspector/access.js';

const token = 'a-token-of-the-test';
const access = new Access(token, 4_780);
const own: IncomingHttpHeaders = { host: '127.0.0.1:4780' };

/** Code of the refusal; undefined: it was let in. */
function verdict(headers: IncomingHttpHeaders, url = '/v1/overview'): string | undefined {
  try {
    access.check({ headers, url });
    return undefined;
  } catch (error) {
    return Reflect.get(Object(error), 'code');
  }
}

describe('access to the listener for browsers', () => {
  it('X6 the token as a header, a cookie, or in the link; nothing without it', () => {
    expect(verdict({ ...own, authorization: `Bearer ${token}` })).to.equal(undefined);
    expect(verdict({ ...own, cookie: `other=1; ${access.cookie}=${token}` })).to.equal(undefined);
    expect(verdict(own, `/?token=${token}`)).to.equal(undefined);
    expect(verdict(own)).to.equal('UNAUTHORIZED');
  });

  it('X6 a wrong token, one that is cut off, and the cookie of another port are refused', () => {
    expect(verdict({ ...own, authorization: 'Bearer other' })).to.equal('UNAUTHORIZED');
    expect(verdict(own, `/?token=${token.slice(0, -1)}`)).to.equal('UNAUTHORIZED');
    expect(verdict({ ...own, cookie: `stagecraft-1=${token}` })).to.equal('UNAUTHORIZED');
  });

  it('X6 a name that was pointed at this host is refused, with the token too', () => {
    for (const host of ['evil.example:4780', '127.0.0.1:80', '127.0.0.1', undefined])
      expect(verdict({ host, authorization: `Bearer ${token}` }), host).to.equal('FORBIDDEN');
    expect(verdict({ host: 'localhost:4780', authorization: `Bearer ${token}` })).to.equal(undefined);
  });

  it('X6 a page of another origin is refused, though the browser sends the cookie', () => {
    const cookie = `${access.cookie}=${token}`;
    expect(verdict({ ...own, cookie, origin: 'https://evil.example' })).to.equal('FORBIDDEN');
    expect(verdict({ ...own, cookie, origin: 'null' })).to.equal('FORBIDDEN');
    expect(verdict({ ...own, cookie, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' })).to.equal(
      'FORBIDDEN',
    );
    expect(verdict({ ...own, cookie, origin: 'http://127.0.0.1:4780' })).to.equal(undefined);
    expect(verdict({ ...own, cookie, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' })).to.equal(
      undefined,
    );
  });
});
