/** What is looked at before a store on Redis is open: the format of what is stored, rights, and indexes. */

import { buckets, type RedisKeys } from './redis-keys.js';
import { isBare, isComplete, rebuild } from './redis-rebuild.js';
import { rowOf } from './redis-replies.js';
import { call } from './redis-script.js';
import { metaScript, probeScript } from './redis-scripts.js';
import { askAll, type RedisServers } from './redis-servers.js';

const format = '1';

/** Refuses what another version wrote, and repairs what an operator broke. */
export async function checkStored(servers: RedisServers, keys: RedisKeys): Promise<void> {
  const [made] = await askAll(servers, [call(metaScript, 0, [keys.meta], [format, String(buckets)])]);
  const [isNew, storedFormat, storedBuckets] = rowOf(made);
  if (storedFormat !== format || storedBuckets !== String(buckets)) {
    throw new Error(
      `What is stored under ${keys.prefix} has format ${storedFormat} with ${storedBuckets} buckets; ` +
        `this version reads format ${format} with ${buckets}: see UPGRADING.md.`,
    );
  }
  await checkRights(servers, keys);
  if (isNew === 1) return;
  if (!(await isComplete(servers, keys)) || (await isBare(servers, keys))) await rebuild(servers, keys);
}

/** A right that lacks must not show amid a commit, which would then be written by half. */
async function checkRights(servers: RedisServers, keys: RedisKeys): Promise<void> {
  const [answer] = await servers.send([call(probeScript, 0, [keys.probe], [])]);
  if (answer instanceof Error && /^(ERR|NOPERM)/.test(answer.message)) throw answer;
}

const hints: [RegExp, string][] = [
  [/ECONNREFUSED/, 'Nothing listens there: is the server running, and are host and port right?'],
  [/ENOTFOUND|EAI_AGAIN/, 'The host has no address: is its name right?'],
  [/NOAUTH|WRONGPASS|HELLO must be called with the client already authenticated/, 'Are user name and password right?'],
  [
    /NOPERM|user executing the script|ACL failure/,
    'The user lacks a right: redisStore names the commands that it needs.',
  ],
  [
    /SSL|TLS|certificate|wrong version number/i,
    'Is TLS on at both sides (the url begins with rediss://), with the right certificate authority?',
  ],
  [/sentinel/i, 'Are the sentinels right, and the name of the master?'],
  [/READONLY/, 'A replica can be opened only once its master has been.'],
  [/no answer within|ETIMEDOUT/, 'Does it hang, does a firewall drop packets, or does only one side expect TLS?'],
];

/** Why a store could not be opened, with what to look at. */
export function openFailure(cause: unknown, where: string): Error {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const hint = hints.find(([pattern]) => pattern.test(reason))?.[1];
  const message = `The Redis store at ${where} can't be opened: ${reason}${hint === undefined ? '' : ` ${hint}`}`;
  return new Error(message, { cause });
}
