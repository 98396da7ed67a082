/** A mount that no record has holds up the report that a volume is gone: who asks why is told what to do. Needs root. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { expect } from 'chai';
import { volumeAddress } from '../../machines/kit/addresses.js';
import { detailOf } from '../../src/inspector/actor-answers.js';
import { refusalOf } from '../refusal.js';
import { MountHouse, many } from './mount-house.js';

describe('an orphaned mount that holds up a volume', () => {
  let house: MountHouse;
  beforeEach(async () => {
    house = await MountHouse.start({ attach: true });
  });
  afterEach(() => house.end());

  it('34.35 is named by why and by the refusal, each with the command that unmounts it', async () => {
    const key = { id: 'data' };
    const { runtime } = house;
    await house.make('data', many);
    const [mount] = await runtime.allocations.prepare('web', [house.wanted('data', many)]);
    const path = mount?.hostPath ?? '';
    await runtime.allocations.release('web');
    const { nodeId } = runtime;
    await runtime.volumes.publish(key, nodeId);
    mkdirSync(path, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', 'orphan', path]);
    const unpublished = runtime.volumes.unpublish(key, nodeId);
    const refusal = await refusalOf(runtime.nodes.reportUnstaged(nodeId, key, { claimGeneration: 9 }));
    expect(refusal.message).to.include(`no record has that mount`).and.include(`'stagecraft mount clean ${path}'`);
    const actor = await runtime.actors.inspect(volumeAddress('default', 'data'));
    const [first] = detailOf(actor, await runtime.mounts.orphans(key)).trouble;
    expect(first?.what).to.include(path);
    expect(first?.command).to.equal(`stagecraft mount clean ${path}`);
    expect(await runtime.mounts.orphans({ id: 'other' })).to.deep.equal([]);
    await runtime.mounts.cleanOrphan(path);
    await runtime.nodes.reportUnstaged(nodeId, key, { claimGeneration: 9 });
    await unpublished;
  });
});
