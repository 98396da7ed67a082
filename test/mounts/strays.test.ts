/** Strays beside mounts that come and go as the kernel's table is read. */
import { expect } from 'chai';
import { mountAddress } from '../../machines/kit/addresses.js';
import { noMount } from '../../machines/mount/changes.js';
import type { ActorView } from '../../src/engine/engine.js';
import { silentLogger } from '../../src/engine/logger.js';
import { MountTable, parseMountInfo } from '../../src/host/mount-table.js';
import { mountPaths } from '../../src/mounts/paths.js';
import { Strays } from '../../src/mounts/strays.js';

const key = { namespace: 'default', id: 'data' };
const paths = mountPaths({ dataDir: '/d', socketRoot: '/d' });
const { path } = paths.staging('disk', key);

describe('strays', () => {
  it('M8 what has gone since the table was read is none, nor is it told of', async () => {
    const context = {
      ...noMount({ node: 'n', ...key }),
      volume: { uid: 'u', plugin: 'disk', csiId: 'c', volumeContext: {}, publishContext: {}, secrets: {} },
    };
    const views: [string, ActorView][] = [
      [mountAddress('n', key.namespace, key.id), { state: 'staged', context, seq: 1 }],
    ];
    const warned: string[] = [];
    const strays = new Strays({
      ...{ nodeId: 'n', paths, tool: { run: async () => ({ status: 0, stdout: '', stderr: '' }) } },
      engine: {
        *views() {
          yield* views;
        },
      },
      tables: {
        table: async () => {
          views.length = 0;
          return new MountTable(parseMountInfo(`30 1 8:1 / ${path} rw - ext4 /dev/sda1 rw\n`));
        },
      },
      logger: { ...silentLogger, warn: (_, message) => void warned.push(message) },
    });
    await strays.tell();
    expect(warned).to.deep.equal([]);
    await strays.tell();
    expect(warned).to.have.length(1);
  });
});
