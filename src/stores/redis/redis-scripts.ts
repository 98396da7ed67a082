/**
 * Lua scripts other than the one for commits. Each is atomic, stays in one bucket and names its keys; only the sweep
 * after an operator's damage finds keys by itself, in its own bucket. The script that reads between its writes is
 * guarded in its first write: see redis-commits.ts
 */

import { script } from './redis-script.js';

/** KEYS: meta. ARGV: format, buckets. Returns whether the key is new, and its value. */
export const metaScript = script(`
local isNew = redis.call('EXISTS', KEYS[1]) == 0 and 1 or 0
if isNew == 1 then redis.call('HSET', KEYS[1], 'format', ARGV[1], 'buckets', ARGV[2]) end
local meta = redis.call('HMGET', KEYS[1], 'format', 'buckets')
return {isNew, meta[1], meta[2]}
`);

/**
 * KEYS: a key that nothing else uses. Runs every command that the other scripts use, so that a missing right shows at
 * open.
 */
export const probeScript = script(`
local key = KEYS[1]
redis.call('DEL', key)
redis.call('XDEL', key, redis.call('XADD', key, '0-*', 't', ''))
redis.call('XTRIM', key, 'MINID', '0-1')
redis.call('XRANGE', key, '-', '+')
redis.call('XINFO', 'STREAM', key)
redis.call('XLEN', key)
redis.call('XREAD', 'STREAMS', key, '0')
redis.call('DEL', key)
redis.call('HSET', key, 'n', '1')
redis.call('HINCRBY', key, 'n', 1)
redis.call('HGET', key, 'n')
redis.call('HMGET', key, 'n')
redis.call('HDEL', key, 'n')
redis.call('DEL', key)
redis.call('ZADD', key, 0, 'n')
redis.call('ZRANGE', key, 0, -1)
redis.call('ZSCORE', key, 'n')
redis.call('ZCARD', key)
redis.call('ZREM', key, 'n')
redis.call('DEL', key)
redis.call('SET', key, '', 'PX', 1000)
redis.call('PEXPIRE', key, 1000)
redis.call('PTTL', key)
redis.call('GET', key)
redis.call('EXISTS', key)
redis.call('DEL', key)
redis.call('TIME')
`);

/** KEYS: owed, counts, then each outbox. ARGV: per outbox its address, the number of seqs, the seqs. */
export const settleScript = script(`
local a, k = 1, 3
while ARGV[a] do
  local address, count = ARGV[a], tonumber(ARGV[a + 1])
  for i = a + 2, a + 1 + count do redis.call('XDEL', KEYS[k], ARGV[i] .. '-0') end
  if redis.call('XLEN', KEYS[k]) == 0 then
    redis.call('DEL', KEYS[k])
    if redis.call('ZREM', KEYS[1], address) == 1 then redis.call('HINCRBY', KEYS[2], 'owed', -1) end
  end
  a, k = a + 2 + count, k + 1
end
`);

/** KEYS: inbox. ARGV: texts. Returns their ids. */
export const inboxScript = script(`
local ids = {}
for i, text in ipairs(ARGV) do ids[i] = string.sub(redis.call('XADD', KEYS[1], '0-*', 't', text), 3) end
return ids
`);

/** Shared by the scripts that read topics. */
const topicReader = `
local function state(key)
  local info, found = redis.pcall('XINFO', 'STREAM', key), {}
  for i = 1, #info, 2 do found[info[i]] = info[i + 1] end
  local newest = string.sub(found['last-generated-id'] or '0-0', 3)
  return newest, found['first-entry'] and found['first-entry'][1]
end
`;

/**
 * KEYS: topic, marks. ARGV: source, seq, index, text of each event. Returns the newest cursor. Writes the marks even
 * if no event is new, so that WAIT on any connection also waits for the write of the first attempt.
 */
export const appendTopicScript = script(`${topicReader}
local marks = {}
for i = 1, #ARGV, 4 do
  local source, seq, index = ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  local mark = marks[source] or redis.call('HGET', KEYS[2], source) or '-1 -1'
  marks[source] = mark
  local lastSeq, lastIndex = string.match(mark, '^(%S+) (%S+)$')
  lastSeq, lastIndex = tonumber(lastSeq), tonumber(lastIndex)
  if seq > lastSeq or (seq == lastSeq and index > lastIndex) then
    redis.call('XADD', KEYS[1], '0-*', 's', source, 'q', ARGV[i + 1], 'i', ARGV[i + 2], 't', ARGV[i + 3])
    marks[source] = ARGV[i + 1] .. ' ' .. ARGV[i + 2]
  end
end
for source, mark in pairs(marks) do
  if mark ~= '-1 -1' then redis.call('HSET', KEYS[2], source, mark) end
end
return (state(KEYS[1]))
`);

/** KEYS: topic. ARGV: first cursor, limit. Returns events, oldest id (or nil), newest cursor. */
export const readTopicScript = script(`${topicReader}
local newest, oldest = state(KEYS[1])
local rows = redis.call('XRANGE', KEYS[1], '0-' .. ARGV[1], '+', 'COUNT', ARGV[2])
return {rows, newest, oldest}
`);

/** Shared by the lease scripts: whether another owner's wish is recorded. */
const wanted = `
local function wanted(key, owner)
  local wish = redis.call('GET', key)
  return wish and wish ~= owner and 1 or 0
end
`;

/**
 * KEYS: lease, held, wish, standby. ARGV: owner, holder, version, ttlMs, above, seen, level (0: not compared), whether the owner wants
 * the lease, whether it stands by. Returns `granted` with epoch, since and whether another wants it; or why it is not granted: `held`
 * with the holder, its epoch, whether it is silent, level and version; `forgotten`; `too-old` with level and version; `later` with a level.
 */
export const acquireScript = script(`${wanted}
local owner, holder, version, ttl = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local above, seen, level = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local last = redis.call('HMGET', KEYS[1], 'epoch', 'owner', 'holder', 'since', 'ttl', 'level', 'version')
local epoch, stored = tonumber(last[1] or '0'), tonumber(last[6] or '0')
local left = redis.call('PTTL', KEYS[2])
local standby = tonumber(redis.call('GET', KEYS[4]) or '')
if last[2] and last[2] ~= owner and left ~= -2 then
  if ARGV[8] == '1' and level <= stored then redis.call('SET', KEYS[3], owner, 'PX', ttl) end
  if ARGV[9] == '1' and level >= stored and level <= (standby or level) then
    redis.call('SET', KEYS[4], ARGV[7], 'PX', ttl)
  end
  local silent = left * 2 < tonumber(last[5] or '0') and 1 or 0
  return {'held', last[3], last[1], silent, tostring(stored), last[7] or ''}
end
if epoch < seen then return {'forgotten'} end
if level > 0 and level < stored then return {'too-old', last[6], last[7]} end
if standby and standby < level and standby >= stored then return {'later', tostring(standby)} end
epoch = string.format('%.0f', math.max(epoch, above) + 1)
local since = last[2] == owner and last[4] or epoch
redis.call('HSET', KEYS[1], 'epoch', epoch, 'owner', owner, 'holder', holder, 'since', since, 'ttl', ttl)
if level > 0 then redis.call('HSET', KEYS[1], 'level', ARGV[7], 'version', version) end
redis.call('SET', KEYS[2], epoch, 'PX', ttl)
redis.call('DEL', KEYS[4])
return {'granted', epoch, since, wanted(KEYS[3], owner)}
`);

/** KEYS: fences. ARGV: lease, epoch, owner. From then on, commits of the bucket under an older epoch are refused. */
export const fenceScript = script(`
local epoch = tonumber(string.match(redis.call('HGET', KEYS[1], ARGV[1]) or '0', '^%d+'))
if epoch <= tonumber(ARGV[2]) then redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ' ' .. ARGV[3]) end
`);

/**
 * KEYS: lease, held, wish, standby. ARGV: owner, epoch, ttlMs. Returns 0: lost, 1: renewed, 2: renewed and wanted by another.
 */
export const renewScript = script(`${wanted}
if redis.call('GET', KEYS[2]) ~= ARGV[2] or redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[2], ARGV[3]) + wanted(KEYS[3], ARGV[1])
`);

/** KEYS: lease, held, wish, standby. ARGV: owner, epoch. Also gives back a lapsed lease, unless somebody has taken it. */
export const releaseScript = script(`
local last = redis.call('HMGET', KEYS[1], 'owner', 'epoch')
if last[1] ~= ARGV[1] or last[2] ~= ARGV[2] then return end
redis.call('DEL', KEYS[2])
`);

/** KEYS: index, due, owed, counts. Returns 1 if each has as many members as counted, else 0. */
export const tallyScript = script(`
local counts = redis.call('HMGET', KEYS[4], 'index', 'due', 'owed')
for i = 1, 3 do
  if tonumber(counts[i] or '0') ~= redis.call('ZCARD', KEYS[i]) then return 0 end
end
return 1
`);

/**
 * KEYS: index, due, owed, then record and outbox of each address. ARGV: addresses. Adds missing members. A key of another
 * type is listed, so that it is seen.
 */
export const enlistScript = script(`
for i, address in ipairs(ARGV) do
  local record, outbox = KEYS[2 + 2 * i], KEYS[3 + 2 * i]
  local stored = redis.pcall('HMGET', record, 'gone', 'wake')
  if stored.err or stored[1] == '0' then redis.call('ZADD', KEYS[1], 0, address) end
  if stored[2] and stored[2] ~= '' then redis.call('ZADD', KEYS[2], 0, stored[2] .. '/' .. address) end
  if redis.call('EXISTS', outbox) == 1 then redis.call('ZADD', KEYS[3], 0, address) end
end
`);

/**
 * KEYS: index, due, owed, counts. ARGV: prefixes of the keys of records and of outboxes. Removes members without a
 * record, and counts again.
 */
export const sweepScript = script(`
for _, address in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  local gone = redis.pcall('HGET', ARGV[1] .. address, 'gone')
  if type(gone) ~= 'table' and gone ~= '0' then redis.call('ZREM', KEYS[1], address) end
end
for _, member in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
  local wake = redis.pcall('HGET', ARGV[1] .. string.sub(member, 18), 'wake')
  if wake ~= string.sub(member, 1, 16) then redis.call('ZREM', KEYS[2], member) end
end
for _, address in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do
  if redis.call('EXISTS', ARGV[2] .. address) == 0 then redis.call('ZREM', KEYS[3], address) end
end
redis.call('HSET', KEYS[4], 'index', redis.call('ZCARD', KEYS[1]), 'due', redis.call('ZCARD', KEYS[2]),
  'owed', redis.call('ZCARD', KEYS[3]))
`);
