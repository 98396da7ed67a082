/** Waits for viewers that take what they are sent; drops those that take nothing. */
import { setTimeout as pause } from 'node:timers/promises';
import type { WebSocket } from 'ws';

/** While more than this waits to be sent, nothing is added. */
const patientBytes = 1 * 2 ** 20;
/** A viewer that takes nothing for so long is dropped. */
const silentMs = 30_000;
const pollMs = 100;
/** Policy violation, in RFC 6455. */
const policyCode = 1008;

/** Resolves once what was sent has gone out, or almost. @returns false: the viewer took nothing, and is dropped */
export async function whenDrained(socket: WebSocket): Promise<boolean> {
  let before = socket.bufferedAmount;
  for (let silent = 0; socket.bufferedAmount > patientBytes; silent += pollMs) {
    if (silent >= silentMs) {
      socket.close(policyCode, 'the viewer reads nothing');
      socket.terminate();
      return false;
    }
    await pause(pollMs);
    if (socket.bufferedAmount < before) silent = 0;
    before = socket.bufferedAmount;
  }
  return true;
}
