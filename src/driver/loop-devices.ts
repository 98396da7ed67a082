/**
 * The port to loop devices, which make a block device of an image, and the real one: util-linux's losetup(8). An image
 * has at most two of them: one to write to, and a read-only one, since only the device itself can refuse writes.
 */
import { setTimeout } from 'node:timers/promises';
import { CsiStatus } from '../csi/server.js';
import { messageOf } from '../errors.js';
import type { Ran, Run } from './commands.js';

export interface LoopDevice {
  /** `/dev/loop…` */
  readonly path: string;
  readonly readonly: boolean;
}

/** Images are absolute paths without symlinks. */
export interface LoopDevices {
  of(image: string): Promise<LoopDevice[]>;
  /** Makes one, unless there is one already. */
  attach(image: string, readonly: boolean): Promise<LoopDevice>;
  /**
   * Takes all of the image away.
   * @throws {CsiStatus} FAILED_PRECONDITION: somebody has one open; it goes by itself when that one closes it
   */
  detachAll(image: string): Promise<void>;
  /** All of the image get the size that it has now. */
  resize(image: string): Promise<void>;
}

/** As losetup lists it. */
interface Listed {
  name: string;
  'back-file': string;
  ro: boolean;
  /** It goes away as soon as nobody has it open. */
  autoclear: boolean;
}

/** How long one that somebody had open, e.g. udev for a look, may take to go away. */
const detachPatienceMs = 2_000;
const detachRetryMs = 50;
/** What the kernel adds to the path of an image that was removed. */
const deletedMark = ' (deleted)';

export const isLoopDevice = (path: string): boolean => /^(?:.*\/)?loop\d+$/.test(path);

export function hostLoopDevices(run: Run): LoopDevices {
  const losetup = async (what: string, args: string[]): Promise<string> => {
    const { status, stdout, stderr } = await run('losetup', args).catch((cause: unknown): Ran => {
      throw noDevice(what, messageOf(cause));
    });
    if (status !== 0) throw noDevice(what, stderr || `losetup ended with ${status}`);
    return stdout;
  };

  const listed = async (image: string): Promise<Listed[]> => {
    const columns = 'NAME,BACK-FILE,RO,AUTOCLEAR';
    const output = await losetup(`can't list loop devices`, ['--list', '--json', '--output', columns]);
    const { loopdevices }: { loopdevices: Listed[] } = output.trim() === '' ? { loopdevices: [] } : JSON.parse(output);
    return loopdevices.filter(({ 'back-file': file }) => file === image || file === image + deletedMark);
  };

  const usable = async (image: string): Promise<LoopDevice[]> =>
    (await listed(image)).filter(({ autoclear }) => !autoclear).map(({ name, ro }) => ({ path: name, readonly: ro }));

  return {
    of: usable,

    async attach(image, readonly) {
      const found = (await usable(image)).find((device) => device.readonly === readonly);
      if (found) return found;
      const args = ['--find', '--show', ...(readonly ? ['--read-only'] : []), image];
      const path = (await losetup(`can't make a block device of ${image}`, args)).trim();
      // Without it all data would be in memory twice. Not every file system can: then it is so.
      await run('losetup', ['--direct-io=on', path]);
      return { path, readonly };
    },

    async detachAll(image) {
      for (let leftMs = detachPatienceMs; ; leftMs -= detachRetryMs) {
        const there = await listed(image);
        if (there.length === 0) return;
        if (leftMs <= 0) {
          const names = there.map(({ name }) => name).join(', ');
          const message = `${names} is open: end what uses it (fuser -v ${names} shows it), then ask again`;
          throw new CsiStatus('FAILED_PRECONDITION', message);
        }
        if (leftMs < detachPatienceMs) await setTimeout(detachRetryMs);
        for (const { name, autoclear } of there) {
          if (!autoclear) await losetup(`can't detach ${name}`, ['--detach', name]);
        }
      }
    },

    async resize(image) {
      for (const { path } of await usable(image)) await losetup(`can't resize ${path}`, ['--set-capacity', path]);
    },
  };
}

const noDevice = (what: string, why: string): CsiStatus =>
  new CsiStatus(
    'FAILED_PRECONDITION',
    `${what} (${why}): block volumes need root and the kernel's loop devices (modprobe loop); others go on without`,
  );
