/**
 * The port to loop devices, which make a block device of an image, and the real one: util-linux's losetup(8). An image
 * has at most two of them: one to write to, and a read-only one, since only the device itself can refuse writes.
 */
import { setTimeout } from 'node:timers/promises';
import { CsiStatus } from '../../csi/server.js';
import { messageOf } from '../../errors.js';
import type { Ran, RunTool } from './commands.js';

export interface LoopDevice {
  /** `/dev/loop…` */
  readonly path: string;
  readonly readonly: boolean;
}

/** Images are absolute paths without symlinks. */
export interface LoopDevices {
  /** Devices that show the image, and stay. */
  of(image: string): Promise<LoopDevice[]>;
  /**
   * Makes a device unless there is one, of a number that no mount shows: where somebody has taken its device from under
   * a target, that target would show the image.
   * @throws {CsiStatus} FAILED_PRECONDITION: an old device is still open, or shows an image that was removed since
   */
  attach(image: string, readonly: boolean, isShown: IsShown): Promise<LoopDevice>;
  /**
   * Detaches all devices of the image, also of one that was removed since.
   * @throws {CsiStatus} FAILED_PRECONDITION: a device is open; it goes by itself when it is closed
   */
  detachAll(image: string): Promise<void>;
  /** Gives all devices of the image its present size. */
  resize(image: string): Promise<void>;
}

/** Whether a mount shows a device now, by its path. */
type IsShown = (device: string) => Promise<boolean>;

/** A device as losetup lists it. */
interface Listed {
  name: string;
  'back-file': string;
  ro: boolean;
  /** Whether the device goes as soon as nobody has it open. */
  autoclear: boolean;
}

/** Time that a device, opened e.g. by udev for a look, may take to go. */
const detachPatienceMs = 2_000;
const detachRetryMs = 50;
/** Mark that the kernel adds to the path of a removed image. */
const deletedMark = ' (deleted)';

export const isLoopDevice = (path: string): boolean => /^(?:.*\/)?loop\d+$/.test(path);

export function hostLoopDevices(run: RunTool): LoopDevices {
  const ran = (what: string, args: string[]): Promise<Ran> =>
    run('losetup', args).catch((cause: unknown): Ran => {
      throw noDevice(what, messageOf(cause));
    });
  const losetup = async (what: string, args: string[]): Promise<string> => {
    const { status, stdout, stderr } = await ran(what, args);
    if (status !== 0) throw noDevice(what, stderr || `losetup ended with ${status}`);
    return stdout;
  };

  const all = async (): Promise<Listed[]> => {
    const columns = 'NAME,BACK-FILE,RO,AUTOCLEAR';
    const output = await losetup(`can't list loop devices`, ['--list', '--json', '--output', columns]);
    const { loopdevices }: { loopdevices: Listed[] } = output.trim() === '' ? { loopdevices: [] } : JSON.parse(output);
    return loopdevices;
  };

  const listed = async (image: string): Promise<Listed[]> =>
    (await all()).filter(({ 'back-file': file }) => file === image || file === image + deletedMark);

  /** Makes a device of the first number that is free and that no mount shows. */
  const make = async (image: string, options: string[], isShown: IsShown): Promise<string> => {
    const used = new Set((await all()).map(({ name }) => name));
    for (let number = 0; ; number += 1) {
      const path = `/dev/loop${number}`;
      if (used.has(path) || (await isShown(path))) continue;
      const what = `can't make a block device of ${image}`;
      const { status, stderr } = await ran(what, [...options, path, image]);
      if (status === 0) {
        // Another driver may have had this device meanwhile, and left a mount of it.
        if (!(await isShown(path))) return path;
        await losetup(`can't detach ${path}`, ['--detach', path]);
      } else if (!/busy/i.test(stderr)) throw noDevice(what, stderr || `losetup ended with ${status}`);
    }
  };

  const usable = async (image: string): Promise<LoopDevice[]> =>
    (await listed(image))
      .filter((device) => device['back-file'] === image && !device.autoclear)
      .map(({ name, ro }) => ({ path: name, readonly: ro }));

  /** Waits until devices that are going have gone. */
  const untilGone = async (image: string): Promise<void> => {
    for (let leftMs = detachPatienceMs; ; leftMs -= detachRetryMs) {
      const going = (await listed(image)).filter(({ autoclear }) => autoclear);
      if (going.length === 0) return;
      if (leftMs <= 0) throw stillOpen(going.map(({ name }) => name).join(', '));
      await setTimeout(detachRetryMs);
    }
  };

  return {
    of: usable,

    async attach(image, readonly, isShown) {
      // Two writers to one image through two devices would overwrite each other's data.
      await untilGone(image);
      const removed = (await listed(image)).find((device) => device['back-file'] !== image);
      if (removed) throw showsRemoved(removed.name, image);
      const found = (await usable(image)).find((device) => device.readonly === readonly);
      if (found) return found;
      const path = await make(image, readonly ? ['--read-only'] : [], isShown);
      // Keeps data out of memory a second time. Not every file system can.
      await run('losetup', ['--direct-io=on', path]);
      return { path, readonly };
    },

    async detachAll(image) {
      for (const { name, autoclear } of await listed(image)) {
        if (!autoclear) await losetup(`can't detach ${name}`, ['--detach', name]);
      }
      await untilGone(image);
    },

    async resize(image) {
      for (const { path } of await usable(image)) await losetup(`can't resize ${path}`, ['--set-capacity', path]);
    },
  };
}

const stillOpen = (names: string): CsiStatus =>
  new CsiStatus(
    'FAILED_PRECONDITION',
    `${names} is open: end what uses it (fuser -vm ${names} shows it, findmnt a mount of it), then ask again`,
  );

const showsRemoved = (name: string, image: string): CsiStatus =>
  new CsiStatus(
    'FAILED_PRECONDITION',
    `${name} shows an image that was removed since, not ${image}: unpublish and unstage the volume, then ask again`,
  );

const noDevice = (what: string, why: string): CsiStatus =>
  new CsiStatus(
    'FAILED_PRECONDITION',
    `${what} (${why}): block volumes need root and the kernel's loop devices (modprobe loop); others go on without`,
  );
