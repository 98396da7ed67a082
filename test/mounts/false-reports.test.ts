/** Reports that a node let go of a volume, held against what is mounted there. */

import { expect } from 'chai';
import { mountAddress } from '../../machines/kit/addresses.js';
import type { Staging } from '../../machines/mount/staging.js';
import type { Target } from '../../machines/mount/types.js';
import { bootId } from '../../src/host/boot-id.js';
import { UnstagedWitness } from '../../src/volumes/node-records.js';
import { refusalOf } from '../refusal.js';
import { noFormerMounts } from '../support/no-former-mounts.js';
import { MountHouse, many, node } from './mount-house.js';

const data = { id: 'data' };
const key = { namespace: 'default', id: 'data' };

describe('a report about the own node', () => {
  let house: MountHouse;
  beforeEach(async () => {
    house = await MountHouse.start({ attach: true });
    await house.make('data', many);
  });
  afterEach(() => house.end());

  const detachCalls = (): number =>
    house.driver.calls().filter(({ rpc }) => rpc === 'ControllerUnpublishVolume').length;

  it('C6 while the kernel shows the volume: refused with its path, and nothing is detached', async () => {
    const [mount] = await house.runtime.allocations.prepare('web', [house.wanted('data', many)]);
    const generation = (await house.runtime.volumes.get(data))?.claims[0]?.generation ?? 0;
    await house.runtime.volumes.release(data, 'web');
    for (const report of [{ claimGeneration: generation }, { claimGeneration: generation, allocId: 'web' }]) {
      const error = await refusalOf(house.runtime.nodes.reportUnstaged(node, data, report));
      expect([error.code, error.address]).to.deep.equal(['VOLUME_IN_USE', 'volume/default/data']);
      expect(error.message).to.contain(`node ${node} is this agent's own`).and.to.contain(mount?.hostPath);
    }
    expect([detachCalls(), house.mounted().length]).to.deep.equal([0, 2]);
    await house.runtime.allocations.release('web');
    expect([detachCalls(), house.mounted().length]).to.deep.equal([1, 0]);
    await house.runtime.nodes.reportUnstaged(node, data, { claimGeneration: generation });
  });

  it('C6 of an alloc that has nothing there, while another one has it mounted: taken', async () => {
    await house.runtime.allocations.prepare('web', [house.wanted('data', many)]);
    const { generation } = await house.runtime.volumes.claim(data, {
      ...{ allocId: 'other', nodeId: node, mode: 'write' },
      ...many,
    });
    await house.runtime.volumes.release(data, 'other');
    await house.runtime.nodes.reportUnstaged(node, data, { claimGeneration: generation, allocId: 'other' });
    expect((await house.runtime.volumes.get(data))?.claims.map(({ allocId }) => allocId)).to.deep.equal(['web']);
    expect([detachCalls(), house.mounted().length]).to.deep.equal([0, 2]);
  });
});

describe('a report about the own node that its kernel can not tell', () => {
  let house: MountHouse;
  beforeEach(async () => {
    house = await MountHouse.start({ attach: true });
    await house.make('data', many);
  });
  afterEach(() => house.end());

  it('C6 as the volume is being staged: refused, and nothing is detached', async () => {
    house.driver.script('NodeStageVolume', { delayMs: 1_000 });
    const prepared = house.runtime.allocations.prepare('web', [house.wanted('data', many)]).catch(() => {});
    await house.driver.waitForCall('NodeStageVolume');
    const generation = (await house.runtime.volumes.get(data))?.claims[0]?.generation ?? 0;
    await house.runtime.volumes.release(data, 'web');
    for (const report of [{ claimGeneration: generation }, { claimGeneration: generation, allocId: 'web' }]) {
      const error = await refusalOf(house.runtime.nodes.reportUnstaged(node, data, report));
      expect(error.code).to.equal('VOLUME_IN_USE');
      expect(error.message).to.contain('may be staged').and.to.contain('fence');
    }
    await prepared;
    await house.runtime.allocations.release('web');
    expect([house.mounted(), house.violations()]).to.deep.equal([[], []]);
  });

  const found = { device: '8:0', root: '/' };
  const user = (allocId: string, more: Partial<Target> = {}): Partial<Target> => ({
    ...{ allocId, at: 'published' },
    ...more,
  });
  const is = (at: Staging['at'], more: object = {}) => ({ staging: { at, number: 1, ...more }, bootId: bootId() });
  for (const [situation, context, allocId, told] of [
    [
      'unmounted, though its agent has it for mounted',
      { users: [user('x')], ...is('staged', { found }) },
      'x',
      undefined,
    ],
    [
      'it is unmounted, and an earlier call may still mount it',
      { users: [user('x', { at: 'pending-unpublish', mayStillArrive: true })], ...is('staged', { found }) },
      'x',
      'mounted for alloc x',
    ],
    [
      'it is being unmounted',
      { users: [user('x', { at: 'pending-unpublish' })], ...is('staged', { found }) },
      'x',
      undefined,
    ],
    [
      'it may be mounted',
      { users: [user('x', { at: 'publish-in-doubt' })], ...is('staged', { found }) },
      'x',
      'mounted for alloc x',
    ],
    ['it may be staged', { users: [], ...is('in-doubt') }, 'x', 'staged'],
    ['staged by a plugin that shows nothing', { users: [user('x')], ...is('staged') }, 'x', 'staged'],
    ['so staged for another alloc', { users: [user('y')], ...is('staged') }, 'x', undefined],
    ['so staged before the host was booted', { users: [user('x')], ...is('staged'), bootId: 'b' }, 'x', undefined],
    ['not staged', { users: [user('x', { at: 'failed' })], ...is('not-staged') }, 'x', undefined],
  ] as const) {
    it(`C6 ${situation}: ${told ? 'refused' : 'taken'}`, async () => {
      const witness = new UnstagedWitness({
        ...{ nodeId: 'a', bootId: bootId(), former: noFormerMounts },
        shownHere: async () => [],
        stored: {
          read: async () => ({ seq: 1, state: 'published', context: { work: null, unconfirmed: [], ...context } }),
        },
      });
      const why = await witness.contradicts({ nodeId: 'a', key, allocId });
      if (told === undefined) expect(why).to.equal(undefined);
      else expect(why).to.contain(`may be ${told}`).and.to.contain('fence');
    });
  }
});

describe('a report about the node of another agent on the same store', () => {
  const user = (allocId: string, at: Target['at']): Partial<Target> => ({ allocId, at });
  const witness = (context: object | undefined) =>
    new UnstagedWitness({
      ...{ nodeId: 'a', bootId: bootId(), former: noFormerMounts },
      shownHere: async () => [],
      stored: {
        read: async (address) => {
          expect(address).to.equal(mountAddress('b', 'default', 'data'));
          return context && { seq: 1, state: 'published', context };
        },
      },
    });
  const staged = { at: 'staged', number: 1 };
  const none = { at: 'not-staged', number: 1 };

  for (const [situation, context, allocId, told] of [
    ['it has nothing of it', undefined, undefined, undefined],
    ['it has it mounted', { users: [user('x', 'published')], staging: staged }, undefined, 'mounted for alloc x'],
    [
      'it is at unmounting it',
      { users: [user('x', 'pending-unpublish')], staging: staged },
      'x',
      'mounted for alloc x',
    ],
    ['another alloc has it mounted', { users: [user('x', 'published')], staging: staged }, 'y', undefined],
    ['it is staged for nobody', { users: [], staging: staged }, 'y', 'staged'],
    ['it could not be mounted', { users: [user('x', 'failed')], staging: none }, 'x', undefined],
  ] as const) {
    it(`C6 ${situation}${allocId ? ', told of an alloc' : ''}: ${told ? 'refused' : 'taken'}`, async () => {
      const why = await witness(context).contradicts({ nodeId: 'b', key, allocId });
      if (told === undefined) expect(why).to.equal(undefined);
      else expect(why).to.contain(`the agent of node b has it ${told}`).and.to.contain('fence');
    });
  }
});
