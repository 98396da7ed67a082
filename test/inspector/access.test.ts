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
    access.checkPlace(headers);
    access.checkToken({ method: 'GET', headers, url });
    return undefined;
  } catch (error) {
    return Reflect.get(Object(error), 'code');
  }
}

describe('access to the listener for browsers', () => {
  it('X6 the token as a header, or in the link; nothing without it', () => {
    expect(verdict({ ...own, authorization: `Bearer ${token}` })).to.equal(undefined);
    expect(verdict(own, `/?token=${token}`)).to.equal(undefined);
    expect(verdict(own)).to.equal('UNAUTHORIZED');
  });

  it('X6 a wrong token, and one that is cut off, are refused', () => {
    expect(verdict({ ...own, authorization: 'Bearer other' })).to.equal('UNAUTHORIZED');
    expect(verdict(own, `/?token=${token.slice(0, -1)}`)).to.equal('UNAUTHORIZED');
  });

  it('X6, 34.12 the token as a cookie is refused: a browser sends it to every port of this host', () => {
    for (const name of ['stagecraft-4780', 'stagecraft', 'token'])
      expect(verdict({ ...own, cookie: `${name}=${token}` }), name).to.equal('UNAUTHORIZED');
  });

  it('X6, 34.12 a ticket lets one request in, within 30 s; the newest hundred are kept', () => {
    let now = 0;
    const timed = new Access(token, 4_780, () => now);
    const isLetIn = (ticket: string): boolean => {
      try {
        timed.checkToken({ method: 'GET', headers: own, url: `/v1/feed?ticket=${ticket}` });
        return true;
      } catch {
        return false;
      }
    };
    const [used, late] = [timed.ticket(), timed.ticket()];
    expect(isLetIn(used)).to.equal(true);
    expect(isLetIn(used)).to.equal(false);
    now = 30_000;
    expect(isLetIn(late)).to.equal(false);
    const [oldest = '', ...others] = Array.from({ length: 101 }, () => timed.ticket());
    expect(isLetIn(oldest)).to.equal(false);
    expect(others.every(isLetIn)).to.equal(true);
    expect(isLetIn('')).to.equal(false);
  });

  it('X6 a name that was pointed at this host is refused, with the token too', () => {
    for (const host of ['evil.example:4780', '127.0.0.1:80', '127.0.0.1', undefined])
      expect(verdict({ host, authorization: `Bearer ${token}` }), host).to.equal('FORBIDDEN');
    expect(verdict({ host: 'localhost:4780', authorization: `Bearer ${token}` })).to.equal(undefined);
  });

  it('X6 a page of another origin is refused, with the token too', () => {
    const authorization = `Bearer ${token}`;
    expect(verdict({ ...own, authorization, origin: 'https://evil.example' })).to.equal('FORBIDDEN');
    expect(verdict({ ...own, authorization, origin: 'null' })).to.equal('FORBIDDEN');
    expect(verdict({ ...own, authorization, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' })).to.equal(
      'FORBIDDEN',
    );
    expect(verdict({ ...own, authorization, origin: 'http://127.0.0.1:4780' })).to.equal(undefined);
    expect(verdict({ ...own, authorization, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' })).to.equal(
      undefined,
    );
  });
});
