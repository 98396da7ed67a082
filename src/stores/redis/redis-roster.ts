/**
 * Roster of the agents on one Redis: who they are, and who has been silent for how long. All on the server's own clock:
 * no two hosts need the same time. Every entry lies in one bucket, so each script sees all of it.
 */
import { createHash } from 'node:crypto';
import type { Beat, Wire } from '../../engine/store.js';
import { bucketOf, type RedisKeys, rosterName } from './redis-keys.js';
import { arrayOf, numberOf, textOf } from './redis-replies.js';
import { call, type Script, script } from './redis-script.js';
import { askAll, type RedisServers } from './redis-servers.js';

/** Entries that have been silent for so long are removed; so long, too, is known that a node has left. */
const keptMs = 600_000;

/**
 * Shared by the scripts. KEYS: entries, beats, changes.
 *
 * entries: hash; `run:`, `entry:` and `away:` (awayAfterMs) of each node, only `run:` of one that has left; `version`;
 * `from`: the changes after this version are all there. beats: zset, node → when it counts as away; of a node that has left, when it left.
 * changes: zset, node → version of its last change.
 *
 * Versions follow the clock, in microseconds: a server that has lost some gives no later change one of them.
 */
const shared = `
local entries, beats, changes = KEYS[1], KEYS[2], KEYS[3]
local time = redis.call('TIME')
local nowMs = time[1] * 1000 + math.floor(time[2] / 1000)
local function text(number) return string.format('%.0f', number) end

local function change(node)
  local version = tonumber(redis.call('HGET', entries, 'version') or '0')
  local now = time[1] * 1000000 + time[2]
  if version == 0 then redis.call('HSET', entries, 'from', text(now - 1)) end
  version = text(math.max(version + 1, now))
  redis.call('HSET', entries, 'version', version)
  redis.call('ZADD', changes, version, node)
end

local function remove(node)
  redis.call('HDEL', entries, 'entry:' .. node, 'away:' .. node)
  redis.call('ZADD', beats, text(nowMs), node)
  change(node)
end
`;

/** ARGV: node, run, awayAfterMs, hash of the last entry or empty, new entry if any. Returns whether the entry is there. */
const beatScript = script(`${shared}
local node, run, away, hash, entry = unpack(ARGV)
local known = redis.call('HMGET', entries, 'run:' .. node, 'entry:' .. node, 'away:' .. node)
if not entry then
  if known[1] ~= run or not known[2] or (hash ~= '' and hash ~= redis.sha1hex(known[2])) then return 0 end
elseif known[1] ~= run or known[2] ~= entry then
  redis.call('HSET', entries, 'run:' .. node, run, 'entry:' .. node, entry)
  change(node)
end
if known[3] ~= away then redis.call('HSET', entries, 'away:' .. node, away) end
redis.call('ZADD', beats, text(nowMs + tonumber(away)), node)
return 1
`);

/** ARGV: node, run. */
const leaveScript = script(`${shared}
local known = redis.call('HMGET', entries, 'run:' .. ARGV[1], 'entry:' .. ARGV[1])
if known[1] == ARGV[2] and known[2] then remove(ARGV[1]) end
`);

/**
 * ARGV: since, keptMs. Returns version, whether all entries come, then lists of node, run and entry of each change, and
 * of node and silence of those away.
 */
const rosterScript = script(`${shared}
local since, keptMs = tonumber(ARGV[1]), tonumber(ARGV[2])
local away = {}
local silent = redis.call('ZRANGE', beats, '-inf', text(nowMs), 'BYSCORE', 'WITHSCORES')
for i = 1, #silent, 2 do
  local node, at = silent[i], tonumber(silent[i + 1])
  local known = redis.call('HMGET', entries, 'entry:' .. node, 'away:' .. node)
  local silentMs = nowMs - at + tonumber(known[2] or '0')
  if known[1] and silentMs < keptMs then
    away[#away + 1], away[#away + 2] = node, text(silentMs)
  elseif known[1] then
    remove(node)
  elseif silentMs >= keptMs then
    local version = redis.call('ZSCORE', changes, node)
    redis.call('ZREM', beats, node)
    redis.call('ZREM', changes, node)
    redis.call('HDEL', entries, 'run:' .. node)
    local from = tonumber(redis.call('HGET', entries, 'from') or '0')
    redis.call('HSET', entries, 'from', text(math.max(from, tonumber(version or '0'))))
  end
end
local state = redis.call('HMGET', entries, 'version', 'from')
local version = tonumber(state[1] or '0')
local isComplete = since == 0 or since > version or since < tonumber(state[2] or '0')
local changed = {}
local first = isComplete and '-inf' or '(' .. text(since)
for _, node in ipairs(redis.call('ZRANGE', changes, first, '+inf', 'BYSCORE')) do
  local known = redis.call('HMGET', entries, 'run:' .. node, 'entry:' .. node)
  if known[2] or not isComplete then
    changed[#changed + 1] = {node, known[1] or '', known[2]}
  end
end
return {text(version), isComplete and 1 or 0, changed, away}
`);

interface RedisRosterOptions {
  keys: Pick<RedisKeys, 'roster'>;
  servers(): RedisServers;
}

export function redisRoster({ keys, servers }: RedisRosterOptions): Pick<Wire, 'beat' | 'leave' | 'roster'> {
  /** By node and run, the hash of the entry given last: a server that has lost it, and has an older one, is told again. */
  const given = new Map<string, string>();
  const ask = async (asked: Script, args: string[]): Promise<unknown> => {
    const [reply] = await askAll(servers(), [call(asked, bucketOf(rosterName), keys.roster(), args)]);
    return reply;
  };
  return {
    async beat({ nodeId, run, awayAfterMs, entry }: Beat) {
      const name = JSON.stringify([nodeId, run]);
      const hash = entry === undefined ? (given.get(name) ?? '') : sha1(entry);
      const args = [nodeId, run, String(Math.ceil(awayAfterMs)), hash, ...(entry === undefined ? [] : [entry])];
      if ((await ask(beatScript, args)) !== 1) return false;
      if (hash !== '') given.set(name, hash);
      return true;
    },
    async leave(nodeId, run) {
      given.delete(JSON.stringify([nodeId, run]));
      await ask(leaveScript, [nodeId, run]);
    },
    async roster(since) {
      const [version, isComplete, changed, away] = arrayOf(await ask(rosterScript, [String(since), String(keptMs)]));
      return {
        version: numberOf(version),
        isComplete: isComplete === 1,
        changed: arrayOf(changed).map((row) => changeOf(arrayOf(row))),
        away: new Map(pairs(arrayOf(away)).map(([node, ms]) => [textOf(node), numberOf(ms)])),
      };
    },
  };
}

const changeOf = ([nodeId, run, entry]: unknown[]): { nodeId: string; run: string; entry?: string } => ({
  ...{ nodeId: textOf(nodeId), run: textOf(run) },
  ...(typeof entry === 'string' && { entry }),
});

const pairs = (row: unknown[]): unknown[][] => row.flatMap((one, i) => (i % 2 === 0 ? [[one, row[i + 1]]] : []));

const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');
