/** Small parts of the bundled driver: sizes as people write them, where a node is, who waits for whom, and its options. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseSize } from '../../src/cli/arguments.js';
import { CsiClient } from '../../src/csi/client.js';
import { CsiStatus } from '../../src/csi/server.js';
import { StagecraftError } from '../../src/errors.js';
import { openDriver } from '../../src/tools/driver/driver.js';
import { topologyKey, topologyOf } from '../../src/tools/driver/identity.js';
import { Pending } from '../../src/tools/driver/state.js';
import { mainPath } from '../scenarios/agent-process.js';
import { codeOf, mounted, there } from './driver-lab.js';

describe('driver: sizes', () => {
  for (const [text, bytes] of [
    ['1', 1],
    ['512', 512],
    ['1Ki', 1024],
    ['20Mi', 20 * 2 ** 20],
    ['100Gi', 100 * 2 ** 30],
    ['8Ti', 2 ** 43],
    ['1.5Gi', 3 * 2 ** 29],
    ['4Pi', 2 ** 52],
  ] as const) {
    it(`${text} is ${bytes} bytes`, () => {
      expect(parseSize(text)).to.equal(bytes);
    });
  }

  for (const text of ['', '0', '-1', '0.1Ki', '1.', '10G', '1 Gi', 'Gi', '1gi', '9000000Ti', '8Pi', 'NaN']) {
    it(`"${text}" is none`, () => {
      expect(() => parseSize(text)).to.throw(StagecraftError, 'e.g. 100Gi');
    });
  }
});

describe('driver: the topology of a node', () => {
  for (const [nodeId, isItself] of [
    ['worker-1.example', true],
    ['n', true],
    ['n'.repeat(63), true],
    ['n'.repeat(64), false],
    ['-worker', false],
    ['worker/1', false],
    ['Knoten ä', false],
  ] as const) {
    it(`${nodeId} is ${isItself ? 'itself' : 'what stands for it, always the same'}`, () => {
      const value = topologyOf(nodeId).segments[topologyKey];
      expect(value === nodeId).to.equal(isItself);
      expect(value).to.match(/^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/);
      expect(topologyOf(nodeId).segments[topologyKey]).to.equal(value);
    });
  }
});

describe('driver: one at a time', () => {
  const never = (): Promise<never> => new Promise(() => {});
  const busy = async (work: Promise<unknown>): Promise<void> => {
    const refusal = await work.catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(CsiStatus).and.include({ code: 'ABORTED' });
  };

  it('a second on one of its keys is ABORTED, and holds none of its own', async () => {
    const pending = new Pending();
    void pending.only(['a', 'b', 'b'], never);
    await busy(pending.only(['c', 'b'], never));
    await busy(pending.sharing('a', never));
    expect(await pending.only(['c'], async () => 'done')).to.equal('done');
  });

  it('those that share go together, and keep out who would be alone until the last has ended', async () => {
    const pending = new Pending();
    let end: (value: string) => void = () => {};
    const first = pending.sharing('a', () => new Promise<string>((resolve) => (end = resolve)));
    expect(await pending.sharing('a', async () => 'second')).to.equal('second');
    await busy(pending.only(['a'], never));
    end('first');
    expect(await first).to.equal('first');
    expect(await pending.only(['a'], async () => 'alone')).to.equal('alone');
  });

  it('is idle once all have ended', async () => {
    const pending = new Pending();
    await pending.idle();
    const ends: (() => void)[] = [];
    const work = () => new Promise<void>((resolve) => ends.push(resolve));
    const all = [pending.only(['a', 'b'], work), pending.sharing('c', work), pending.sharing('c', work)];
    let isIdle = false;
    const idle = pending.idle().then(() => {
      isIdle = true;
    });
    for (const [index, end] of ends.entries()) {
      expect(isIdle).to.equal(false);
      end();
      await all[index];
    }
    await idle;
    expect(isIdle).to.equal(true);
  });

  it('a failure ends it', async () => {
    const pending = new Pending();
    const failure = new Error('no');
    for (const work of [
      () => pending.only(['a'], () => Promise.reject(failure)),
      () => pending.sharing('a', () => Promise.reject(failure)),
    ])
      expect(await work().catch((error: unknown) => error)).to.equal(failure);
    expect(await pending.only(['a'], async () => 'done')).to.equal('done');
  });
});

describe('driver: options of its command', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'driver-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  for (const [options, code, told] of [
    [['--capacity', '10G'], 2, 'e.g. 100Gi'],
    [['--max-volumes-per-node', '0'], 2, 'above 0'],
    [['--peer-node', 'n2'], 1, 'attach'],
  ] as const) {
    it(`${options.join(' ')} ends it with ${code}, and says what to do`, () => {
      const rest = ['--endpoint', join(folder, 'csi.sock'), '--node-id', 'n1', '--data-dir', join(folder, 'data')];
      const { status, stderr } = spawnSync(process.execPath, [mainPath, 'driver', ...rest, ...options], {
        encoding: 'utf8',
      });
      expect(status).to.equal(code);
      expect(stderr).to.contain(told);
    });
  }

  it('say what there is, which nodes there are, and how many volumes each may have', async () => {
    const socketPath = join(folder, 'csi.sock');
    const place = ['--endpoint', socketPath, '--node-id', 'n1', '--data-dir', join(folder, 'data')];
    const options = [
      '--capacity',
      '3Gi',
      '--attach',
      '--peer-node',
      'n2',
      '--peer-node',
      'n3',
      '--max-volumes-per-node',
      '1',
    ];
    const child = spawn(process.execPath, [mainPath, 'driver', ...place, ...options], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const client = new CsiClient({ socketPath });
    try {
      await once(child.stdout, 'data');
      expect(await client.getCapacity({})).to.include({ availableCapacity: 3n * 2n ** 30n });
      const volumeCapability = mounted();
      const publish = async (name: string, nodeId: string) => {
        const { volume } = await client.createVolume({ name, volumeCapabilities: [volumeCapability] });
        return codeOf(client.controllerPublishVolume({ volumeId: there(volume).volumeId, nodeId, volumeCapability }));
      };
      expect(await publish('a', 'n3')).to.equal('OK');
      expect(await publish('b', 'n3')).to.equal('RESOURCE_EXHAUSTED');
      expect(await publish('b', 'n2')).to.equal('OK');
      expect(await publish('c', 'n4')).to.equal('NOT_FOUND');
    } finally {
      client.close();
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      expect(await ended).to.deep.equal([0, null]);
    }
  });
});

describe('driver: its data directory', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'driver-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const refusalOf = (dataDir: string): Promise<unknown> =>
    openDriver({ nodeId: 'n', dataDir }).then(
      () => 'taken',
      (error: unknown) => (error instanceof StagecraftError ? error.code : error),
    );

  it('what belongs to something else is left alone', async () => {
    writeFileSync(join(folder, 'package.json'), '{}');
    expect(await refusalOf(folder)).to.equal('DATA_DIR_UNUSABLE');
    expect(await refusalOf(join(folder, 'package.json'))).to.equal('DATA_DIR_UNUSABLE');
    expect(readdirSync(folder)).to.deep.equal(['package.json']);
  });

  it('an empty one is taken, and one of its own again', async () => {
    for (const _ of ['first', 'again']) {
      const { close } = await openDriver({ nodeId: 'n', dataDir: folder });
      await close();
    }
  });
});
