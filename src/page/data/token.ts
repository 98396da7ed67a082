/**
 * Keeps the token of the agent: in memory, and in the sessionStorage of this tab for when it is loaded again. Both belong to
 * this origin, port included. A cookie would go to every port of this host.
 */
import { signal } from '@preact/signals';

const key = 'stagecraft-token';

/** Undefined: the page has none, and asks for it. */
export const token = signal<string | undefined>(undefined);

/** Whether the agent has refused the last one. */
export const wasRefused = signal(false);

/** Open pages of this agent give each other the token, as for a link that was opened in a new tab. */
const tabs = new BroadcastChannel(key);

/** A browser may allow none: the page then asks for the token whenever it is loaded. */
function storage(): Storage | undefined {
  try {
    return sessionStorage;
  } catch {
    return undefined;
  }
}

/** Takes the token of the address, or the kept one. Removes it from the address bar and from the history of the browser. */
export function findToken(): void {
  const here = new URL(location.href);
  const given = here.searchParams.get('token');
  if (given !== null) {
    here.searchParams.delete('token');
    history.replaceState(null, '', `${here.pathname}${here.search}${here.hash}`);
  }
  tabs.onmessage = ({ data }) => {
    if (data === 'ask' && token.value !== undefined) tabs.postMessage({ token: token.value });
    else if (typeof data?.token === 'string' && token.value === undefined) keepToken(data.token);
  };
  const found = given ?? storage()?.getItem(key);
  if (found) keepToken(found);
  else tabs.postMessage('ask');
}

export function keepToken(given: string): void {
  storage()?.setItem(key, given);
  wasRefused.value = false;
  token.value = given;
}

/** Forgets a token that the agent has refused. */
export function dropToken(refused: string): void {
  if (token.value !== refused) return;
  storage()?.removeItem(key);
  wasRefused.value = true;
  token.value = undefined;
}
