/** Allocs that leave out in which modes they have their volumes. */
import { expect } from 'chai';
import { messageOf, StagecraftError } from '../../src/errors.js';
import type { ClaimClient } from '../../src/mounts/claim-client.js';
import type { AllocVolumeRequest } from '../../src/mounts/mount-spec.js';
import { block, MountHouse, many, plugin, single } from '../mounts/mount-house.js';
import { refusalOf } from '../refusal.js';

/** It says nothing of modes. */
const open = (id: string, more: Partial<AllocVolumeRequest> = {}): AllocVolumeRequest => ({
  ...{ name: id, volume: { id }, mode: 'write', taskPath: `/${id}` },
  ...more,
});

describe('modes that an alloc leaves out', () => {
  let house: MountHouse;
  beforeEach(async () => {
    house = await MountHouse.start();
  });
  afterEach(() => house.end());

  const modes = async (allocId: string): Promise<string[]> =>
    (await house.runtime.allocations.status(allocId)).volumes.map(
      ({ name, attachmentMode, accessMode }) => `${name}: ${attachmentMode}, ${accessMode}`,
    );

  it('H1 are those that the volume was made for first; of one that is left out, first with the other', async () => {
    await house.make('data', single, many);
    await house.make('log', single, many);
    await house.make('disk', block);
    const requests = [open('data'), open('log', { accessMode: many.accessMode }), open('disk', { mode: 'read' })];
    const mounts = await house.runtime.allocations.prepare('web', requests);
    expect(mounts.map(({ name, isDevice, readOnly }) => [name, isDevice, readOnly])).to.deep.equal([
      ['data', false, false],
      ['log', false, false],
      ['disk', true, true],
    ]);
    expect(await modes('web')).to.deep.equal([
      'data: file-system, single-node-writer',
      'log: file-system, single-node-multi-writer',
      'disk: block-device, single-node-writer',
    ]);
    expect(await house.runtime.allocations.prepare('web', requests)).to.deep.equal(mounts);
  });

  it('H1 of an alloc that has the volume are as it has it', async () => {
    await house.make('data', single, many);
    const mounts = await house.runtime.allocations.prepare('web', [house.wanted('data', many)]);
    expect(await house.runtime.allocations.prepare('web', [open('data')])).to.deep.equal(mounts);
  });

  it('H1 do not go with the rest of the request, or with the volume: refused, and nothing is begun', async () => {
    await house.make('disk', block);
    const { allocations } = house.runtime;
    const [fault] = (await refusalOf(allocations.prepare('web', [open('disk', { fsType: 'ext4' })]))).faults ?? [];
    expect(fault).to.equal('[0].fsType: is for file systems: leave it out for a block device');
    const missing = await refusalOf(allocations.prepare('web', [open('disk'), open('nix')]));
    expect([missing.code, missing.message.includes('default/nix')]).to.deep.equal(['VOLUME_NOT_FOUND', true]);
    expect(await allocations.list()).to.deep.equal([]);
  });

  describe('while whoever has the volumes is away', () => {
    let isAway: boolean;
    let looks: number;
    /** Those that nobody waits for any more. */
    let dropped: string[];
    beforeEach(async () => {
      isAway = true;
      looks = 0;
      dropped = [];
      const known = { uid: 'u', plugin, capabilities: [many], secrets: {} };
      const refused = new StagecraftError('NOT_LEADER', 'another one leads');
      const claims: ClaimClient = {
        look: async ({ id }, _, { signal }) => {
          looks += 1;
          if (id === 'nix') throw new StagecraftError('VOLUME_NOT_FOUND', 'there is none');
          if (id === 'silent') return new Promise(() => signal.addEventListener('abort', () => dropped.push(id)));
          if (isAway || id === 'log') throw refused;
          return known;
        },
        claim: async () => ({ generation: 1 }),
        holds: async () => true,
        publish: async () => {
          throw new StagecraftError('CSI_ERROR', 'no', { final: true });
        },
        release: async () => ({}),
        unstaged: async () => {},
        holdReleased: async () => {},
        expanded: async () => {},
      };
      await house.reopen({ claims });
    });

    /** It has been looked for in vain. */
    const begun = async (options?: {
      timeoutMs?: number;
      signal?: AbortSignal;
    }): Promise<{ told: Promise<string> }> => {
      const told = house.runtime.allocations.prepare('web', [open('data')], options).then(
        () => 'prepared',
        (error: unknown) => (error instanceof StagecraftError ? `${error.code} ${messageOf(error)}` : messageOf(error)),
      );
      while (looks === 0) await new Promise(setImmediate);
      return { told };
    };

    it('H4 are waited for', async () => {
      const { told } = await begun();
      isAway = false;
      expect(await told).to.match(/^CSI_ERROR /);
      expect(await modes('web')).to.deep.equal(['data: file-system, single-node-multi-writer']);
    });

    it('H1 not in time, or given up: what was waited for is told, and nothing is begun', async () => {
      const { told } = await begun({ timeoutMs: 50 });
      expect(await told).to.match(/^TIMEOUT .*data: another one leads.*nothing was begun/);
      looks = 0;
      const gone = new AbortController();
      const given = await begun({ signal: gone.signal });
      setImmediate(() => gone.abort());
      expect(await given.told).to.match(/^ABORTED .*data: another one leads.*nothing was begun/);
      expect(await house.runtime.allocations.list()).to.deep.equal([]);
    });

    it('H1 given up while one of two is looked up by now: only the other was waited for', async () => {
      const gone = new AbortController();
      const requests = [open('data'), open('log')];
      const refusal = refusalOf(house.runtime.allocations.prepare('web', requests, { signal: gone.signal }));
      while (looks < 2) await new Promise(setImmediate);
      isAway = false;
      while (looks < 4) await new Promise(setImmediate);
      setImmediate(() => gone.abort());
      expect((await refusal).message).to.include('looked up (log: another one leads): nothing was begun');
    });

    it('H1 where one is none, the looks for the others are given up', async () => {
      const refusal = await refusalOf(house.runtime.allocations.prepare('web', [open('silent'), open('nix')]));
      expect([refusal.code, dropped]).to.deep.equal(['VOLUME_NOT_FOUND', ['silent']]);
    });

    it('H2 released, or the runtime ends: nothing comes of it', async () => {
      const { told } = await begun();
      await house.runtime.allocations.release('web');
      expect(await told).to.match(/^ABORTED .*released before it was prepared/);
      looks = 0;
      const ended = await begun();
      await house.runtime.close();
      expect(await ended.told).to.match(/^RUNTIME_CLOSED/);
    });
  });
});
