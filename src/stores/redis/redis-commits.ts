/**
 * Sends many commits in few calls, to the Lua script that writes them. The refusal of one leaves the others unharmed. The script
 * applies the rule of commit-rule.ts: nobody else can write while a script runs.
 */
import type { Commit, CommitResult } from '../../engine/store.js';
import { journalRows, seqOf } from '../commit-rule.js';
import { bucketOf, type RedisKeys, sortable } from './redis-keys.js';
import { NotSentError } from './redis-link.js';
import { arrayOf, numberOf, textOf } from './redis-replies.js';
import { conflictHead } from './redis-rows.js';
import { call, type RedisCall, script } from './redis-script.js';
import { isUndone, type RedisServers } from './redis-servers.js';

/**
 * Writes the journal first, and guards that write: a server that accepts no writes now (full, read-only …) refuses
 * the first write of a script, and nothing has happened then. Numbers stay text: Lua would write 1.8e+12.
 */
const commitScript = script(`
-- Of what is asked for of a record: where but a part is there, it was damaged, and is never written over.
local function fieldsOf(stored)
  local count = 0
  for i = 1, 6 do if stored[i] then count = count + 1 end end
  return count
end

local function outcome(record, stored, issued, expected, seq, epoch, owner, commitId)
  -- A key of another type: nobody can read or replace the record.
  if stored.err then return {'', '', '', ''} end
  if stored[1] == seq and stored[4] == commitId then return 1 end
  if issued then
    local newest, holder = string.match(issued, '^(%d+) (.*)$')
    if tonumber(epoch) < tonumber(newest) or (epoch == newest and owner ~= holder) then return {newest, holder} end
  end
  local fields = fieldsOf(stored)
  if fields == 0 and not redis.call('HGET', record, 'text') then return expected ~= '0' and 0 or nil end
  local mine, its = tonumber(epoch), fields == 6 and tonumber(stored[2])
  if its and stored[1] == expected and (mine > its or (mine == its and owner == stored[3])) then return nil end
  return {stored[1] or '', stored[2] or '', stored[3] or '', stored[4] or ''}
end

local function enlist(key, counts, field, member)
  if redis.call('ZADD', key, 0, member) == 1 then redis.call('HINCRBY', counts, field, 1) end
end

local function strike(key, counts, field, member)
  if redis.call('ZREM', key, member) == 1 then redis.call('HINCRBY', counts, field, -1) end
end

local results, a, k = {}, 2, tonumber(ARGV[1])
while ARGV[a] do
  local base, address, commitId, expected, seq, lease, epoch, owner, gone, wake, text, entries, owes, consumed =
    unpack(ARGV, a, a + 13)
  base, entries, consumed = tonumber(base), tonumber(entries), tonumber(consumed)
  local index, due, owed, counts, fences = unpack(KEYS, base, base + 4)
  local record, log = KEYS[k + 1], KEYS[k + 2]
  k = k + 2
  local entry = a + 14
  a = entry + 2 * entries
  local outbox, outboxText, inbox, firstId
  if owes == '1' then
    outbox, outboxText = KEYS[k + 1], ARGV[a]
    k, a = k + 1, a + 1
  end
  if consumed > 0 then
    inbox, firstId = KEYS[k + 1], a
    k, a = k + 1, a + consumed
  end

  local stored = redis.pcall('HMGET', record, 'seq', 'epoch', 'owner', 'commitId', 'gone', 'wake')
  local issued = lease ~= '' and redis.call('HGET', fences, lease)
  local result = outcome(record, stored, issued, expected, seq, epoch, owner, commitId)
  if result == 1 then
    -- So that WAIT, on whatever connection, waits for more than the first answer's write.
    redis.pcall('HSET', record, 'commitId', commitId)
  elseif result == nil then
    local written = redis.pcall('XADD', log, ARGV[entry] .. '-0', 't', ARGV[entry + 1])
    if written.err then
      result = written
    else
      result = 1
      for i = entry + 2, entry + 2 * entries - 2, 2 do redis.call('XADD', log, ARGV[i] .. '-0', 't', ARGV[i + 1]) end
      if outbox then
        redis.call('XADD', outbox, seq .. '-0', 't', outboxText)
        enlist(owed, counts, 'owed', address)
      end
      for i = firstId or 1, (firstId or 1) + consumed - 1 do redis.call('XDEL', inbox, '0-' .. ARGV[i]) end
      if stored[6] ~= wake then
        if stored[6] and stored[6] ~= '' then strike(due, counts, 'due', stored[6] .. '/' .. address) end
        if wake ~= '' then enlist(due, counts, 'due', wake .. '/' .. address) end
      end
      if stored[5] == gone and stored[2] == epoch and stored[3] == owner and stored[6] == wake then
        redis.call('HSET', record, 'seq', seq, 'commitId', commitId, 'text', text)
      else
        redis.call('HSET', record, 'seq', seq, 'epoch', epoch, 'owner', owner, 'commitId', commitId,
          'gone', gone, 'wake', wake, 'text', text)
        if gone == '1' then
          strike(index, counts, 'index', address)
        elseif stored[5] ~= '0' then
          enlist(index, counts, 'index', address)
        end
      end
    end
  end
  results[#results + 1] = result
end
return results
`);

/** Makes the call that writes these commits in order. All are of one bucket, or all buckets are on one server. */
function commitCall(keys: RedisKeys, commits: readonly Commit[]): RedisCall {
  const bases = new Map<number, number>();
  const bucketKeys: string[] = [];
  const itemKeys: string[] = [];
  const args: string[] = [];
  for (const commit of commits) {
    const { address, commitId, expectedSeq, lease = '', epoch, owner, wakeAtMs } = commit;
    const { text, outbox, consumed = [] } = commit;
    const entries = journalRows(commit);
    const bucket = bucketOf(address);
    let base = bases.get(bucket);
    if (base === undefined) {
      base = bucketKeys.length + 1;
      bases.set(bucket, base);
      bucketKeys.push(...keys.indexes(bucket), keys.fences(bucket));
    }
    itemKeys.push(keys.record(address), keys.journal(address));
    args.push(
      ...[String(base), address, commitId, String(expectedSeq), String(seqOf(commit)), lease, String(epoch), owner],
      ...[commit.gone ? '1' : '0', wakeAtMs === undefined ? '' : sortable(wakeAtMs), text, String(entries.length)],
      ...[outbox === undefined ? '0' : '1', String(consumed.length)],
    );
    for (const { seq, text: entry } of entries) args.push(String(seq), entry);
    if (outbox !== undefined) {
      itemKeys.push(keys.outbox(address));
      args.push(outbox);
    }
    if (consumed.length > 0) {
      itemKeys.push(keys.inbox(address));
      args.push(...consumed.map(String));
    }
  }
  const bucket = bucketOf(commits[0]?.address ?? '');
  return call(commitScript, bucket, [...bucketKeys, ...itemKeys], [String(bucketKeys.length), ...args]);
}

/** Reads the script's answer for each commit. */
function commitResults(reply: unknown): CommitResult[] {
  return arrayOf(reply).map(commitResult);
}

function commitResult(reply: unknown): CommitResult {
  if (reply === 1) return { status: 'done' };
  if (reply === 0) return { status: 'conflict' };
  if (reply instanceof Error) return { status: 'refused', reason: reply.message };
  const fields = arrayOf(reply);
  const [epoch, owner] = fields;
  if (fields.length === 2) return { status: 'fenced', epoch: numberOf(epoch), owner: textOf(owner) };
  return { status: 'conflict', stored: conflictHead(fields) };
}

/** Items of one script call: the server does nothing else while a script runs. */
const stepSize = 64;

/** Some of the items, by their indexes among all, and the call that writes them. */
interface Step {
  places: number[];
  call: RedisCall;
}

/**
 * Sends items in calls and resolves in the order given. Items that were certainly not begun are refused, and leave
 * the others unharmed.
 * @throws {Error} if nothing could be sent, or the outcome of some items is unknown
 */
export async function commitAll(servers: RedisServers, keys: RedisKeys, items: Commit[]): Promise<CommitResult[]> {
  const steps = stepsOf(items, keys, servers.shareCalls);
  const answers = await sendSteps(servers, steps, items);
  const failure = answers.find((answer) => answer instanceof Error && !isUndone(answer));
  if (failure !== undefined) throw failure;
  if (answers.length > 0 && answers.every((answer) => answer instanceof NotSentError)) throw answers[0];
  const results: CommitResult[] = [];
  for (const [i, { places }] of steps.entries()) {
    const some = resultsOf(answers[i], places.length);
    for (const [j, place] of places.entries()) results[place] = some[j] ?? missing(place);
  }
  return results;
}

function resultsOf(answer: unknown, count: number): CommitResult[] {
  if (!isUndone(answer)) return commitResults(answer);
  return Array.from({ length: count }, () => ({ status: 'refused', reason: answer.message }));
}

function missing(place: number): never {
  throw new Error(`Redis answered nothing for commit ${place}.`);
}

/** Sends calls for one address one after the other if one of them must be repeated: their order must not change. */
async function sendSteps(servers: RedisServers, steps: Step[], items: Commit[]): Promise<unknown[]> {
  const isDistinct = new Set(items.map(({ address }) => address)).size === items.length;
  if (isDistinct) return servers.send(callsOf(steps), true);
  const answers: unknown[] = [];
  for (const step of steps) answers.push(...(await servers.send(callsOf([step]), true)));
  return answers;
}

function callsOf(steps: Step[]): RedisCall[] {
  return steps.map(({ call }) => call);
}

function stepsOf(items: Commit[], keys: RedisKeys, shareCalls: boolean): Step[] {
  const byBucket = new Map<number, number[]>();
  for (const [place, { address }] of items.entries()) {
    const bucket = bucketOf(address);
    const places = byBucket.get(bucket);
    if (places === undefined) byBucket.set(bucket, [place]);
    else places.push(place);
  }
  const groups = shareCalls ? [[...byBucket.values()].flat()] : [...byBucket.values()];
  return groups.flatMap((group) =>
    slices(group, stepSize).map((places) => {
      const some = places.flatMap((place) => items[place] ?? []);
      return { places, call: commitCall(keys, some) };
    }),
  );
}

export function slices<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
}
