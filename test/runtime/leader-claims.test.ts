/** Claims of a node whose agent does not lead: it reads what is committed, and is told who leads; once it leads itself it goes on. */
import { expect } from 'chai';
import { isRetryable } from '../../src/errors.js';
import { localClaims } from '../../src/runtime/local-claims.js';
import { refusalOf } from '../refusal.js';
import { managerOf } from '../volumes/manager-of.js';
import { spec } from '../volumes/volume-house.js';
import { type Agent, LeaderLab, leaseTtlMs } from './leader-lab.js';

const key = { namespace: 'default', id: 'data' };
const use = { accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;
const w1 = { allocId: 'w1', nodeId: 'a', mode: 'write', ...use } as const;
const wait = { signal: new AbortController().signal };

describe('claims of a node, another agent leads', () => {
  let lab: LeaderLab;
  let first: Agent;
  let second: Agent;
  beforeEach(async () => {
    lab = new LeaderLab();
    first = await lab.agent('n1');
    await lab.report(first);
    second = await lab.agent('n2');
    await first.runtime.volumes.create(spec('data'));
  });
  afterEach(async () => {
    expect(lab.plugin.wrongs).to.deep.equal([]);
    await lab.dispose();
  });

  const claimsOf = ({ runtime }: Agent) => localClaims(managerOf(runtime));
  const publish = (agent: Agent) => claimsOf(agent).publish(key, { nodeId: 'a', ...use, readOnly: false }, wait);

  it('H4 it is known what the volume is and who has it; whatever changes something is worth asking again', async () => {
    await claimsOf(first).claim(key, w1, wait);
    const { uid = '' } = (await first.runtime.volumes.get(key)) ?? {};
    const other = claimsOf(second);
    expect(await other.look(key, { nodeId: 'a' }, wait)).to.include({ uid, plugin: 'disk' });
    expect(await other.holds(key, { allocId: 'w1', generation: 1 }, wait)).to.equal(true);
    const requests = [
      other.claim(key, w1, wait),
      publish(second),
      other.release(key, { allocId: 'w1', nodeId: w1.nodeId }, wait),
      other.unstaged(key, { nodeId: 'a', allocId: 'w1', generation: 1 }, wait),
      other.expanded(key, { nodeId: 'a', uid, capacity: {} }, wait),
    ];
    for (const refusal of await Promise.all(requests.map(refusalOf))) {
      expect([refusal.code, isRetryable(refusal)]).to.deep.equal(['NOT_LEADER', true]);
      expect(refusal.message).to.include('node n1');
    }
    expect((await first.runtime.volumes.get(key))?.claims.map(({ state }) => state)).to.deep.equal(['taken']);
  });

  it('H1 H4 it takes over after a claim: the same again is the same claim, and goes on there', async () => {
    expect(await claimsOf(first).claim(key, w1, wait)).to.deep.equal({ generation: 1 });
    first.die();
    await lab.clock.advance(3 * leaseTtlMs);
    expect(await claimsOf(second).claim(key, w1, wait)).to.deep.equal({ generation: 1 });
    expect(await publish(second)).to.deep.include({ publishContext: { device: 'vol-1@csi-a' } });
  });

  it('H2 H4 a takeover while a request waits for a slot: the caller is informed, and the repeat waits on', async () => {
    await claimsOf(first).claim(key, w1, wait);
    await publish(first);
    const { generation = 0 } = await claimsOf(first).release(key, { allocId: 'w1', nodeId: w1.nodeId }, wait);
    const own = { nodeId: 'a', allocId: 'w1', generation };
    const answer = lab.hold('ControllerUnpublishVolume');
    const waiting = refusalOf(claimsOf(first).unstaged(key, own, wait));
    await lab.rest();
    first.freeze();
    answer();
    await lab.clock.advance(3 * leaseTtlMs);
    const again = claimsOf(second).unstaged(key, own, wait);
    await lab.clock.advance(10 * 60_000);
    await again;
    expect((await second.runtime.volumes.get(key))?.claims).to.deep.equal([]);
    first.thaw();
    await lab.clock.advance(leaseTtlMs);
    const refusal = await waiting;
    expect([refusal.code, isRetryable(refusal)]).to.deep.equal(['NOT_LEADER', true]);
    expect(await claimsOf(second).release(key, { allocId: 'w1', nodeId: w1.nodeId }, wait)).to.deep.equal({});
  });
});
