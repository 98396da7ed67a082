/**
 * A mount that never answers: whoever touches it hangs. It is one of FUSE whose server is this process, which reads
 * requests when it is told to, and answers none but the first. Needs root and /dev/fuse.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync, readSync, writeSync } from 'node:fs';
import type { CsiHandlers } from '../../src/csi/server.js';
import { until } from '../until.js';

export interface DeadMount {
  readonly path: string;
  /**
   * Has the server be there as one is that hangs in its own storage: it takes what it is asked, and says nothing. Who
   * has asked can't be killed until the server is gone. Resolves when somebody has asked.
   */
  takeRequest(): Promise<void>;
  /** Has it answer the next question with an error. Resolves when it has. @param errno e.g. 5, of an input/output error */
  refuseRequest(errno: number): Promise<void>;
  /** The server is gone; its mount is still there. */
  killServer(): void;
  /** Takes it away, and wakes all who hang on it. To be called after every test that made one, however that ended. */
  end(): void;
}

/** Of the kernel's fuse.h. */
const initOpcode = 26;
const headerBytes = 16;
const initAnswerBytes = 64;
const requestBytes = 2 ** 17 + 4_096;

/** @param path a directory. @throws Error that says what this host lacks */
export function deadMount(path: string): DeadMount {
  const server = openFuse();
  let isServing = true;
  const killServer = (): void => {
    if (isServing) closeSync(server);
    isServing = false;
  };

  const { status, stderr, error } = spawnSync(
    'mount',
    ['-i', '-t', 'fuse', '-o', 'fd=3,rootmode=40000,user_id=0,group_id=0', 'dead', path],
    { stdio: ['ignore', 'pipe', 'pipe', server], encoding: 'utf8', timeout: 10_000, killSignal: 'SIGKILL' },
  );
  if (status !== 0) {
    killServer();
    throw new Error(
      `can't make a FUSE mount (${error?.message ?? stderr.trim()}): run this as root, with CAP_SYS_ADMIN`,
    );
  }

  /** @param errno it is answered with; absent: it is not. @returns the opcode of the next request; absent: there is none */
  const take = (errno?: number): number | undefined => {
    const request = Buffer.alloc(requestBytes);
    try {
      readSync(server, request);
    } catch (refused) {
      if (refused instanceof Error && 'code' in refused && refused.code === 'EAGAIN') return undefined;
      throw refused;
    }
    const opcode = request.readUInt32LE(4);
    const unique = request.readBigUInt64LE(8);
    if (opcode === initOpcode) writeSync(server, initAnswer(unique));
    else if (errno !== undefined) writeSync(server, errorAnswer(unique, errno));
    return opcode;
  };

  const requestTaken = (errno?: number): Promise<void> =>
    until(() => {
      const opcode = take(errno);
      return opcode !== undefined && opcode !== initOpcode;
    });

  return {
    path,
    takeRequest: () => requestTaken(),
    refuseRequest: requestTaken,
    killServer,
    end() {
      killServer();
      const { status, stderr } = spawnSync('umount', ['--lazy', '--no-canonicalize', path], { encoding: 'utf8' });
      if (status !== 0 && !/not mounted|no mount point/.test(stderr)) throw new Error(stderr);
    },
  };
}

/** A driver that serves all that it mounts itself. @param made what it has mounted so far, in that order */
export function servingDriver(made: DeadMount[]): CsiHandlers {
  const mounted = (path: string): object => {
    mkdirSync(path, { recursive: true });
    made.push(deadMount(path));
    return {};
  };
  const unmounted = (path: string): object => {
    execFileSync('umount', ['--no-canonicalize', path]);
    return {};
  };
  return {
    NodeStageVolume: ({ stagingTargetPath }) => mounted(stagingTargetPath),
    NodePublishVolume: ({ targetPath }) => mounted(targetPath),
    NodeUnpublishVolume: ({ targetPath }) => unmounted(targetPath),
    NodeUnstageVolume: ({ stagingTargetPath }) => unmounted(stagingTargetPath),
  };
}

function openFuse(): number {
  try {
    return openSync('/dev/fuse', constants.O_RDWR | constants.O_NONBLOCK);
  } catch (cause) {
    throw new Error('these tests need /dev/fuse: load it (modprobe fuse), or hand it to the container', { cause });
  }
}

/** Version 7.31 of the protocol, nothing special. */
function initAnswer(unique: bigint): Buffer {
  const answer = Buffer.alloc(headerBytes + initAnswerBytes);
  answer.writeUInt32LE(answer.length, 0);
  answer.writeBigUInt64LE(unique, 8);
  answer.writeUInt32LE(7, headerBytes);
  answer.writeUInt32LE(31, headerBytes + 4);
  answer.writeUInt32LE(4_096, headerBytes + 20); // the most that is written at once
  return answer;
}

function errorAnswer(unique: bigint, errno: number): Buffer {
  const answer = Buffer.alloc(headerBytes);
  answer.writeUInt32LE(answer.length, 0);
  answer.writeInt32LE(-errno, 4);
  answer.writeBigUInt64LE(unique, 8);
  return answer;
}
