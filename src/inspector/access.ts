/**
 * Checks who may use the listener for browsers: whoever has its token, by its own address, and from its own page. Any program on
 * this host can connect, and any page in a browser here can try: neither has the token. No cookie keeps the token, as a browser
 * sends the cookies of a host to all of its ports.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { StagecraftError } from '../errors.js';

export const newToken = (): string => randomBytes(24).toString('base64url');

const leastTokenChars = 16;

export const isToken = (text: string): boolean => text.length >= leastTokenChars && /^[\w-]+$/.test(text);

/** @throws {StagecraftError} INVALID_ARGUMENT */
export function checkedToken(token: string): string {
  if (isToken(token)) return token;
  const allowed = `at least ${leastTokenChars} letters, digits, '-' and '_'`;
  throw new StagecraftError('INVALID_ARGUMENT', `the token of the inspector must have ${allowed}`);
}

interface AccessRequest {
  /** GET for the request of a WebSocket, too. */
  method: string | undefined;
  headers: IncomingHttpHeaders;
  /** Path with its query. */
  url: string;
}

/** Names of this host that a browser may call it by: no other name can be pointed at it from outside. */
const loopbackNames = ['127.0.0.1', 'localhost', '[::1]'];

/** Time in which a ticket can be used, in milliseconds. */
const ticketMs = 30_000;
const mostTickets = 100;

export class Access {
  readonly #token: Buffer;
  readonly #port: number;
  readonly #now: () => number;
  /** Moments when tickets end, by ticket, the oldest first. */
  readonly #tickets = new Map<string, number>();

  /** @param port where it listens */
  constructor(token: string, port: number, now: () => number = () => performance.now()) {
    this.#token = digestOf(token);
    this.#port = port;
    this.#now = now;
  }

  /**
   * Checks where the request comes from, as far as a browser says it.
   * @throws {StagecraftError} FORBIDDEN
   */
  checkPlace({ host, origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode }: IncomingHttpHeaders): void {
    const hosts = loopbackNames.map((name) => `${name}:${this.#port}`);
    if (host === undefined || !hosts.includes(host.toLowerCase()))
      throw new StagecraftError('FORBIDDEN', `this is ${hosts[0]}, and not ${host ?? 'a host without a name'}`);
    if (origin !== undefined && origin !== `http://${host}`)
      throw new StagecraftError('FORBIDDEN', `a page of ${origin} may not use this`);
    const isForeign = site !== undefined && site !== 'same-origin' && site !== 'none';
    if (isForeign && mode !== 'navigate')
      throw new StagecraftError('FORBIDDEN', 'a page of another site may not use this');
  }

  /**
   * Checks its token: in the header, or in the query, as in a link. A ticket in the query does as well, once, for a GET:
   * it changes nothing, and makes no other ticket.
   * @throws {StagecraftError} UNAUTHORIZED
   */
  checkToken({ method, headers, url }: AccessRequest): void {
    const { query } = pathAndQuery(url);
    const ticket = query.get('ticket');
    if (method === 'GET' && ticket !== null && this.#redeem(ticket)) return;
    const given = bearerIn(headers) ?? query.get('token');
    if (given !== null && timingSafeEqual(digestOf(given), this.#token)) return;
    const advice = "open the link that 'stagecraft inspect' prints, or send the token as 'authorization: Bearer …'";
    throw new StagecraftError('UNAUTHORIZED', `the token is ${given === null ? 'missing' : 'wrong'}: ${advice}`);
  }

  /** Makes a ticket for one request that can have no header: a WebSocket, an EventSource or a download of a browser. */
  ticket(): string {
    const [oldest] = this.#tickets.keys();
    if (oldest !== undefined && this.#tickets.size >= mostTickets) this.#tickets.delete(oldest);
    const ticket = newToken();
    this.#tickets.set(ticket, this.#now() + ticketMs);
    return ticket;
  }

  #redeem(ticket: string): boolean {
    const endsAt = this.#tickets.get(ticket) ?? 0;
    return this.#tickets.delete(ticket) && this.#now() < endsAt;
  }
}

/** Path and query of a request. Reads any text: not every path of a request is one of a URL. */
export function pathAndQuery(url: string): { path: string; query: URLSearchParams } {
  const at = url.indexOf('?');
  return at < 0
    ? { path: url, query: new URLSearchParams() }
    : { path: url.slice(0, at), query: new URLSearchParams(url.slice(at + 1)) };
}

/** Digests have the same length, whatever is given. */
const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

const bearerIn = ({ authorization = '' }: IncomingHttpHeaders): string | null =>
  /^Bearer (\S+)$/.exec(authorization)?.[1] ?? null;

const style =
  ':root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}body{max-width:32rem;margin:15vh auto;padding:0 1rem}input{font:inherit;width:100%;box-sizing:border-box;padding:.4rem;margin:.5rem 0}button{font:inherit;padding:.4rem 1rem}';

const hash = createHash('sha256').update(style).digest('base64');

/** Its field leads to the page of this agent, and nowhere else. */
export const tokenPagePolicy = `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`;

/** Page for a browser that has opened an address without the token: one field, and no script. */
export const tokenPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Token · Stagecraft</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>The token is missing or wrong</h1>
<p>Only those who have the token of this agent can look. <code>stagecraft inspect</code> prints a link with it.</p>
<form action="/" method="get">
<label>Token <input name="token" type="password" required autofocus autocomplete="off"></label>
<button>Open the page</button>
</form>
</main>
</body>
</html>
`;

/** Whether a person has opened the address in a browser: a script of a page and other programs get JSON. */
export const isOpenedInBrowser = ({ accept = '' }: IncomingHttpHeaders): boolean => accept.includes('text/html');
