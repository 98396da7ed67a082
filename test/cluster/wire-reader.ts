/** A process that hears an inbox in Redis, and says what it has heard. Its parent freezes it. */
import { redisStore } from '../../src/stores/redis/redis.js';

const [url = '', inbox = ''] = process.argv.slice(2);
const store = redisStore(url);
await store.open();
await store.wire?.listen(inbox, (text, ageMs) => process.send?.({ text, ageMs }), new AbortController().signal);
process.send?.({ text: 'listening', ageMs: 0 });
