/**
 * Mounts and loop devices in memory only, for a driver that runs without root. It answers as the real one, and makes
 * and removes targets; but the content of a volume is not seen there.
 */

import { type MountEntry, MountTable } from '../../host/mount-table.js';
import type { LoopDevice, LoopDevices } from './loop-devices.js';
import type { HostMounts } from './mounts.js';

const rootMount: MountEntry = {
  id: 1,
  parentId: 0,
  device: '0:1',
  root: '/',
  path: '/',
  options: new Set(['rw']),
  propagation: 'private',
  fsType: 'memory',
  origin: 'memory',
  isReadOnly: false,
};

export function memoryMounts(): HostMounts {
  let entries: MountEntry[] = [rootMount];
  let lastId = rootMount.id;
  const seenAt = (target: string): MountEntry => {
    const seen = new MountTable(entries).at(target).at(-1);
    if (!seen) throw new Error(`nothing is mounted at ${target}`);
    return seen;
  };

  return {
    table: async () => new MountTable(entries),

    async bind(source, target) {
      const table = new MountTable(entries);
      lastId += 1;
      const parentId = table.holderOf(target).id;
      const bound = { ...table.holderOf(source), ...table.sourceOf(source) };
      entries = [...entries, { ...bound, id: lastId, parentId, path: target }];
    },

    async setOptions(target, options) {
      const { id, options: before } = seenAt(target);
      const now = new Set([...before, ...options]);
      if (options.includes('ro')) now.delete('rw');
      entries = entries.map((entry) =>
        entry.id === id ? { ...entry, options: now, isReadOnly: now.has('ro') } : entry,
      );
    },

    async unmount(target) {
      const { id } = seenAt(target);
      entries = entries.filter((entry) => entry.id !== id);
    },
  };
}

export function memoryLoopDevices(): LoopDevices {
  const devices = new Map<string, LoopDevice[]>();
  let made = 0;
  const of = (image: string): LoopDevice[] => devices.get(image) ?? [];

  return {
    of: async (image) => of(image),

    async attach(image, readonly) {
      const found = of(image).find((device) => device.readonly === readonly);
      if (found) return found;
      const device = { path: `/dev/loop${made}`, readonly };
      made += 1;
      devices.set(image, [...of(image), device]);
      return device;
    },

    async detachAll(image) {
      devices.delete(image);
    },

    async resize() {},
  };
}
