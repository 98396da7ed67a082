/**
 * Checks who may use the listener for browsers: whoever has its token, by its own address, and from its own page. Any program on
 * this host can connect, and any page in a browser here can try: neither has the token.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { StagecraftError } from '../errors.js';

export const newToken = (): string => randomBytes(24).toString('base64url');

export interface AccessRequest {
  headers: IncomingHttpHeaders;
  /** Path with its query. */
  url: string;
}

/** Names of this host that a browser may call it by: no other name can be pointed at it from outside. */
const loopbackNames = ['127.0.0.1', 'localhost', '[::1]'];

export class Access {
  readonly #token: Buffer;
  readonly #port: number | undefined;
  /** Name of the cookie: cookies of a host are shared by all its ports. */
  readonly cookie: string;

  /** @param port where it listens; undefined: at a unix socket, which no browser reaches */
  constructor(token: string, port: number | undefined) {
    this.#token = digestOf(token);
    this.#port = port;
    this.cookie = `stagecraft-${port ?? 'socket'}`;
  }

  /**
   * Checks where the request comes from, then its token.
   * @throws {StagecraftError} FORBIDDEN, UNAUTHORIZED
   */
  check({ headers, url }: AccessRequest): void {
    this.#checkPlace(headers);
    if (this.isOpenedBy(url)) return;
    const given = bearerIn(headers) ?? this.#cookieIn(headers);
    if (given !== undefined && this.#isToken(given)) return;
    const advice = "open the link that 'stagecraft inspect' prints, or send the token as 'authorization: Bearer …'";
    throw new StagecraftError('UNAUTHORIZED', `the token is ${given === undefined ? 'missing' : 'wrong'}: ${advice}`);
  }

  /** Whether the token is in the address: a link was opened. */
  isOpenedBy(url: string): boolean {
    const given = new URL(url, 'http://localhost').searchParams.get('token');
    return given !== null && this.#isToken(given);
  }

  /** Value of the header that makes a browser keep the token. */
  cookieOf(token: string): string {
    return `${this.cookie}=${token}; HttpOnly; SameSite=Strict; Path=/`;
  }

  #checkPlace({ host, origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode }: IncomingHttpHeaders): void {
    if (this.#port === undefined) return;
    const hosts = loopbackNames.map((name) => `${name}:${this.#port}`);
    if (host === undefined || !hosts.includes(host.toLowerCase()))
      throw new StagecraftError('FORBIDDEN', `this is ${hosts[0]}, and not ${host ?? 'a host without a name'}`);
    if (origin !== undefined && origin !== `http://${host}`)
      throw new StagecraftError('FORBIDDEN', `a page of ${origin} may not use this`);
    const isForeign = site !== undefined && site !== 'same-origin' && site !== 'none';
    if (isForeign && mode !== 'navigate')
      throw new StagecraftError('FORBIDDEN', 'a page of another site may not use this');
  }

  #isToken(given: string): boolean {
    return timingSafeEqual(digestOf(given), this.#token);
  }

  #cookieIn({ cookie = '' }: IncomingHttpHeaders): string | undefined {
    const pair = cookie.split(/;\s*/).find((one) => one.startsWith(`${this.cookie}=`));
    return pair?.slice(this.cookie.length + 1);
  }
}

/** Digests have the same length, whatever is given. */
const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

const bearerIn = ({ authorization = '' }: IncomingHttpHeaders): string | undefined =>
  /^Bearer (\S+)$/.exec(authorization)?.[1];
