/** Allocs at every step, with the calls under way that they wait for: what is recorded of each version (test/histories). */
import { StagecraftError } from '../../src/errors.js';
import type { AllocLab, Port } from './alloc-lab.js';

export interface AllocScene {
  title: string;
  play(lab: AllocLab): Promise<void>;
}

const hangs = (lab: AllocLab, ...calls: `${Port} ${string}`[]): void => {
  for (const call of calls) lab.faults.set(call, 'hangs');
};

const busy = new StagecraftError('PLUGIN_UNAVAILABLE', 'its plugin is away', { final: false });
const refused = new StagecraftError('CSI_ERROR', 'it is broken', { final: true });

const prepared = async (lab: AllocLab): Promise<void> => {
  await lab.prepare(['data', 'log']);
};

const recover = (lab: AllocLab, isNewBoot = false): Promise<void> => lab.ask({ type: 'alloc.recover', isNewBoot });
const release = (lab: AllocLab): Promise<void> => lab.ask({ type: 'alloc.release' });

export const allocScenes: AllocScene[] = [
  ...(['claim', 'publish', 'bring'] as const).map((port) => ({
    title: `preparing, at ${port}`,
    play: async (lab: AllocLab) => {
      hangs(lab, `${port} data`);
      await prepared(lab);
    },
  })),
  {
    title: 'preparing in a time that is limited, one volume at claim, one at bring',
    play: async (lab) => {
      hangs(lab, 'claim data', 'bring log');
      await lab.prepare(['data', 'log'], lab.lab.clock.now() + 3_600_000);
    },
  },
  {
    title: 'preparing, its slot is taken, and its plugin away',
    play: async (lab) => {
      lab.slots.set('data', { allocId: 'db', generation: 99 });
      lab.faults.set('bring log', busy);
      await prepared(lab);
    },
  },
  {
    title: 'preparing once more after a restart, at publish',
    play: async (lab) => {
      hangs(lab, 'bring data');
      await prepared(lab);
      hangs(lab, 'publish data');
      await recover(lab);
    },
  },
  { title: 'prepared', play: prepared },
  ...(['reachable', 'holds', 'publish', 'bring'] as const).map((port) => ({
    title: `recovering, at ${port}`,
    play: async (lab: AllocLab) => {
      await prepared(lab);
      lab.mounted.delete('data');
      hangs(lab, `${port} data`);
      await recover(lab);
    },
  })),
  {
    title: 'recovering, backing off',
    play: async (lab) => {
      await prepared(lab);
      lab.faults.set('standing data', refused);
      await recover(lab);
    },
  },
  {
    title: 'recovering, until it is asked for again',
    play: async (lab) => {
      await prepared(lab);
      lab.mounted.clear();
      await recover(lab, true);
    },
  },
  {
    title: 'never prepared before another boot',
    play: async (lab) => {
      hangs(lab, 'bring data');
      await prepared(lab);
      lab.mounted.clear();
      await recover(lab, true);
    },
  },
  ...(['take', 'release', 'unstaged'] as const).map((port) => ({
    title: `releasing, at ${port}`,
    play: async (lab: AllocLab) => {
      await prepared(lab);
      hangs(lab, `${port} data`);
      await release(lab);
    },
  })),
  {
    title: 'releasing, its plugin is away',
    play: async (lab) => {
      await prepared(lab);
      lab.faults.set('take data', busy);
      await release(lab);
    },
  },
  {
    title: 'releasing what could not be had, at take',
    play: async (lab) => {
      lab.faults.set('bring data', refused);
      hangs(lab, 'take log');
      await prepared(lab);
    },
  },
  {
    title: 'releasing what could not be had, and released meanwhile',
    play: async (lab) => {
      lab.faults.set('bring data', refused);
      hangs(lab, 'take log');
      await prepared(lab);
      await release(lab);
    },
  },
  {
    title: 'releasing what has lost its claim, at unstaged',
    play: async (lab) => {
      await prepared(lab);
      hangs(lab, 'unstaged log');
      const { generation } = lab.slots.get('data') ?? { generation: 0 };
      lab.slots.set('data', { allocId: 'db', generation: 99 });
      const failure = { code: 'CLAIM_LOST', message: 'its node was taken for lost', final: true };
      await lab.ask({ type: 'alloc.lost', name: 'data', generation, failure });
    },
  },
  {
    title: 'failed',
    play: async (lab) => {
      lab.faults.set('bring data', refused);
      await prepared(lab);
    },
  },
];
