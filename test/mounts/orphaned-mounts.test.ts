/** OrphanedMounts beside mounts that come and go as the kernel's table is read. */
import { expect } from 'chai';
import { mountAddress } from '../../machines/kit/addresses.js';
import type { Tries } from '../../machines/kit/csi-types.js';
import { noMount } from '../../machines/mount/changes.js';
import type { Target } from '../../machines/mount/types.js';
import type { ActorView } from '../../src/engine/actor-system.js';
import { silentLogger } from '../../src/engine/logger.js';
import { MountTable, parseMountInfo } from '../../src/host/mount-table.js';
import { OrphanedMounts } from '../../src/mounts/orphaned-mounts.js';
import { mountPaths } from '../../src/mounts/paths.js';
import { actorSystem } from '../support/actor-system.js';

const key = { namespace: 'default', id: 'data' };
const paths = mountPaths({ dataDir: '/d', socketRoot: '/d' });
const { path } = paths.staging('disk', key);

const noTool = { run: async () => ({ status: 0, stdout: '', stderr: '' }) };
const here = {
  ...noMount({ node: 'n', ...key }),
  volume: { uid: 'u', plugin: 'disk', csiId: 'c', volumeContext: {}, publishContext: {}, secrets: {} },
};
const mountedAt = (at: string): MountTable =>
  new MountTable(parseMountInfo(`30 1 8:1 / ${at} rw - ext4 /dev/sda1 rw\n`));

describe('orphans', () => {
  it('M8 what has gone since the table was read is none, nor is it told of', async () => {
    const views: [string, ActorView][] = [
      [mountAddress('n', key.namespace, key.id), { state: 'staged', context: here, seq: 1 }],
    ];
    const warned: string[] = [];
    const orphans = new OrphanedMounts({
      ...{ nodeId: 'n', paths, tool: noTool },
      engine: actorSystem({
        *views() {
          yield* views;
        },
      }),
      tables: {
        table: async () => {
          views.length = 0;
          return mountedAt(path);
        },
      },
      logger: { ...silentLogger, warn: (_, message) => void warned.push(message) },
    });
    await orphans.tell();
    expect(warned).to.deep.equal([]);
    await orphans.tell();
    expect(warned).to.have.length(1);
  });

  for (const at of ['pending-unpublish', 'remounting', 'publish-in-doubt'] as const)
    it(`M8 what a plugin has forgotten, and the kernel shows, is one of its own while the target is ${at}`, async () => {
      const failure = { code: 'CSI_ERROR', message: 'NOT_FOUND', final: false } as const;
      const target = paths.target('disk', key, 'a').path;
      const user: Target = {
        ...{ allocId: 'a', readOnly: false, isClaimed: true, number: 1, sinceMs: 0, at },
        capability: { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' },
      };
      const listedWith = (tries: Tries | undefined) => {
        const context = { ...here, users: [{ ...user, ...(tries && { tries }) }] };
        return new OrphanedMounts({
          ...{ nodeId: 'n', paths, tool: noTool, logger: silentLogger },
          engine: actorSystem({
            *views() {
              yield [mountAddress('n', key.namespace, key.id), { state: 'publishing', context, seq: 1 }];
            },
          }),
          tables: { table: async () => mountedAt(target) },
        }).list();
      };
      const tries = { count: 1, notBeforeMs: 9, sinceMs: 1, failure };
      expect(await listedWith(undefined)).to.deep.equal([]);
      expect(await listedWith(tries)).to.deep.equal([]);
      const forgotten = { ...tries, failure: { ...failure, answerClass: 'already-so-if-unmounted' as const } };
      expect((await listedWith(forgotten)).map((orphan) => [orphan.path, orphan.plugin])).to.deep.equal([
        [target, 'disk'],
      ]);
    });
});
