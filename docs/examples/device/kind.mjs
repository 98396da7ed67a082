// The kind of plugin `device`: connects to the daemon of a device, and checks its health.
import { createConnection } from 'node:net';
import { createInterface } from 'node:readline';

/** Client that `dispense` returns for a device: one connection, made at first use, and again after a loss. */
export class DeviceClient {
  #socketPath;
  #connection;
  #waiting = []; // for answers, in the order of the questions
  #onDisconnect = new Set();
  #isClosed = false;

  constructor(socketPath) {
    this.#socketPath = socketPath;
  }

  /** Asks the device, e.g. `read`. Rejects when the connection is lost, or the signal is aborted. */
  async ask(what, { signal } = {}) {
    if (this.#isClosed) throw new Error('the client of this device is closed');
    signal?.throwIfAborted();
    this.#connection ??= this.#connect();
    const connection = this.#connection;
    // A late answer could not be told from the next one: the connection is given up.
    const giveUp = () => connection.destroy(signal.reason);
    signal?.addEventListener('abort', giveUp);
    try {
      const line = await new Promise((resolve, reject) => {
        this.#waiting.push({ resolve, reject });
        connection.write(`${JSON.stringify({ ask: what })}\n`);
      });
      const answer = JSON.parse(line);
      if (answer.error) throw new Error(answer.error);
      return answer;
    } finally {
      signal?.removeEventListener('abort', giveUp);
    }
  }

  onDisconnect(lost) {
    this.#onDisconnect.add(lost);
    return () => this.#onDisconnect.delete(lost);
  }

  close() {
    this.#isClosed = true;
    this.#connection?.destroy();
  }

  #connect() {
    const connection = createConnection(this.#socketPath);
    let isMade = false;
    let reason = new Error('the device has closed the connection');
    connection.on('connect', () => {
      isMade = true;
    });
    connection.on('error', (error) => {
      reason = error;
    });
    connection.on('close', () => {
      this.#connection = undefined;
      for (const { reject } of this.#waiting.splice(0)) reject(reason);
      // Only for an established connection: otherwise each failed check would trigger the next one at once.
      if (isMade) for (const lost of [...this.#onDisconnect]) lost();
    });
    const lines = createInterface({ input: connection });
    lines.on('line', (line) => this.#waiting.shift()?.resolve(line));
    lines.on('error', () => {}); // the error of the connection, handled above
    return connection;
  }
}

/** @type {import('stagecraft').Dispenser<DeviceClient>} */
export const device = {
  connect: ({ connection }) => new DeviceClient(connection.socketPath),

  async fingerprint(client, { signal, basic }) {
    const known = basic ?? (await readBasics(client, signal)); // once, and again when there may be another device
    const { ready } = await client.ask('status', { signal });
    if (!ready) return { healthy: false, description: 'warming up', basic: known };
    return { healthy: true, basic: known, capabilities: await client.ask('features', { signal }) };
  },

  onDisconnect: (client, lost) => client.onDisconnect(lost),
  close: (client) => client.close(),
};

async function readBasics(client, signal) {
  const { name, version } = await client.ask('who', { signal });
  return { pluginName: name, vendorVersion: version };
}
