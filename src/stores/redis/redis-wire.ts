/** Inboxes of agents as streams in Redis. Reading blocks, so it has connections of its own. */
import { setTimeout as sleep } from 'node:timers/promises';
import { onAbort } from '../../abort.js';
import type { Wire } from '../../engine/store.js';
import { bucketOf, type RedisKeys } from './redis-keys.js';
import { entriesOf } from './redis-replies.js';
import { entryText } from './redis-rows.js';
import { command } from './redis-script.js';
import { askAll, type RedisServers } from './redis-servers.js';

/** Texts that an inbox keeps, about: a reader that is further behind loses the oldest. */
const mostTexts = 10_000;
/** Longest wait of one read, ms. */
export const blockMs = 2_000;
const mostRead = 500;
/** An inbox without a reader is gone after this. */
const expiryMs = 600_000;
const retryMs = 200;

export interface RedisWireOptions {
  keys: Pick<RedisKeys, 'wire'>;
  /** Connections for all that does not block. */
  servers(): RedisServers;
  /** Makes connections for reads that block. */
  reading(): Promise<RedisServers>;
}

export const redisWire = ({ keys, servers, reading }: RedisWireOptions): Wire => ({
  async post(inbox, text) {
    const bucket = bucketOf(inbox);
    const add = command(
      bucket,
      'xadd',
      keys.wire(inbox),
      'NOMKSTREAM',
      'MAXLEN',
      '~',
      String(mostTexts),
      '*',
      't',
      text,
    );
    const [id] = await askAll(servers(), [add]);
    return id !== null;
  },
  async listen(inbox, hear, signal) {
    const key = keys.wire(inbox);
    const bucket = bucketOf(inbox);
    const make = [command(bucket, 'xadd', key, '*', 't', ''), command(bucket, 'pexpire', key, String(expiryMs))];
    await askAll(servers(), make);
    const readers = await reading();
    onAbort(signal, () => {
      readers.close();
      void remove();
    });
    void read();

    /** Without the server the inbox goes by itself, once its time is over. */
    async function remove(): Promise<void> {
      try {
        await askAll(servers(), [command(bucket, 'del', key)]);
      } catch {
        // The key expires.
      }
    }

    async function read(): Promise<void> {
      let last = '0-0';
      let isLost = false;
      while (!signal.aborted) {
        try {
          if (isLost) await askAll(servers(), make);
          isLost = false;
          const block = command(
            bucket,
            'xread',
            'COUNT',
            String(mostRead),
            'BLOCK',
            String(blockMs),
            'STREAMS',
            key,
            last,
          );
          const [reply] = await askAll(readers, [block]);
          const [stream] = Array.isArray(reply) ? reply : [];
          for (const entry of entriesOf(Array.isArray(stream) ? stream[1] : [])) {
            last = entry.id.join('-');
            const text = entryText(entry);
            if (text !== '') hear(text);
          }
          await askAll(servers(), [command(bucket, 'pexpire', key, String(expiryMs))]);
        } catch {
          // The store's own calls fail as well, and are told of.
          if (signal.aborted) return;
          await sleep(retryMs);
          // Another server may answer now, whose ids are lower: what was heard before comes again, and does no harm.
          last = '0-0';
          isLost = true;
        }
      }
    }
  },
});
