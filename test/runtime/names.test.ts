/** Rule for all names that users give, the same at each entry point of the library, the API and the configuration. */
import { join } from 'node:path';
import { expect } from 'chai';
import { serveApi } from '../../src/agent/api.js';
import { parseConfig } from '../../src/agent/config.js';
import type { AllocVolumeRequest, MountRequest, VolumeSpec } from '../../src/index.js';
import { createRuntime } from '../../src/runtime/runtime.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { refusalOf } from '../refusal.js';
import { answerOf } from '../scenarios/agent-process.js';
import { spec, VolumeHouse } from '../volumes/volume-house.js';

const ofEveryObject = Object.getOwnPropertyNames(Object.prototype);
const unfit = [...ofEveryObject, 'a\n', 'a\u0000b', '\u001b[31m', 'a\ud800'];
const nodeNames = [...unfit, 'x'.repeat(257)];
const names = [...unfit, 'x'.repeat(129)];

const use = { accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;
const alloc = (more: Partial<AllocVolumeRequest>): AllocVolumeRequest[] => [
  { name: 'd', volume: { id: 'data' }, mode: 'write', taskPath: '/data', ...use, ...more },
];
const mount = (more: Partial<MountRequest>): MountRequest => ({
  ...{ volume: { id: 'data' }, allocId: 'web', usage: use },
  ...more,
});
const key = { id: 'data' };
const claim = { allocId: 'web', nodeId: 'a', mode: 'write', ...use } as const;
const shown = (name: string): string =>
  JSON.stringify(name.length > 40 ? `${name.slice(0, 8)}… of ${name.length}` : name);

describe('names', () => {
  let house: VolumeHouse;

  before(async () => {
    house = await new VolumeHouse().furnish();
    await house.volumes.create(spec('data'));
  });
  after(() => house.dispose());

  /** Requests that take a name, by the named object. */
  const entries: Record<string, (name: string) => Promise<unknown>> = {
    'a volume that is created': (id) => house.volumes.create(spec(id)),
    'the namespace of one': (namespace) => house.volumes.create(spec('x', { namespace })),
    'the plugin of one': (plugin) => house.volumes.create(spec('x', { plugin })),
    'the volume that it begins with': (id) => house.volumes.create(spec('x', { source: { volume: { id } } })),
    'a volume that is asked for': (id) => house.volumes.get({ id }),
    'a volume that is deleted': (id) => house.volumes.delete({ id }),
    'the namespace of a list': (namespace) => house.volumes.list({ namespace }),
    'the plugin of a list': (plugin) => house.volumes.list({ plugin }),
    'the plugin of a reconciliation': (plugin) => house.volumes.reconcile(plugin),
    'the plugin whose capacity is asked for': (plugin) => house.volumes.capacity(plugin),
    'the alloc of a claim': (allocId) => house.volumes.claim(key, { ...claim, allocId }),
    'the alloc whose claim is released': (allocId) => house.volumes.release(key, allocId),
    'a snapshot': (id) => house.runtime.snapshots.create({ id, volume: key }),
    'the namespace of a snapshot': (namespace) => house.runtime.snapshots.create({ id: 's', namespace, volume: key }),
    'a snapshot that is asked for': (id) => house.runtime.snapshots.get({ id }),
    'the namespace of a list of snapshots': (namespace) => house.runtime.snapshots.list({ namespace }),
    'a group snapshot': (id) => house.runtime.groupSnapshots.create({ id, volumes: [key] }),
    'a plugin that a node reports': (name) =>
      house.runtime.nodes.report({ id: 'x', plugins: [{ name, nodeId: 'csi-x' }] }),
    'the alloc of a report': (allocId) => house.runtime.nodes.reportUnstaged('a', key, { claimGeneration: 1, allocId }),
    'an alloc that is prepared': (id) => house.runtime.allocations.prepare(id, alloc({})),
    'an alloc that is released': (id) => house.runtime.allocations.release(id),
    'the name of a volume in an alloc': (name) => house.runtime.allocations.prepare('web', alloc({ name })),
    'the volume of an alloc': (id) => house.runtime.allocations.prepare('web', alloc({ volume: { id } })),
    'the alloc of a mount': (allocId) => house.runtime.mounts.mount(mount({ allocId })),
    'the volume of a mount': (id) => house.runtime.mounts.mount(mount({ volume: { id } })),
    'the alloc of an unmount': (allocId) => house.runtime.mounts.unmount({ volume: key, allocId }),
    'the name of a plugin': (name) => house.runtime.plugins.register({ ...plugin, name }),
    'the alloc of a plugin': (allocId) => house.runtime.plugins.register({ ...plugin, allocId }),
    'a task': (id) => house.runtime.tasks.start({ id, type: 'node', socket: '/nowhere/x.sock' }),
  };
  const plugin = { type: 'csi-controller', name: 'disk', allocId: 'x', connection: { socketPath: '/nowhere/x.sock' } };

  /** The same for nodes, whose names may be longer. */
  const nodeEntries: Record<string, (id: string) => Promise<unknown>> = {
    'the own node': async (nodeId) =>
      createRuntime({ nodeId, dataDir: join(house.directory, 'other'), store: memoryStore(), clock: house.clock }),
    'a node that reports': (id) => house.runtime.nodes.report({ id, plugins: [] }),
    'a node that is asked for': (id) => house.runtime.nodes.status(id),
    'a node that is down': (id) => house.runtime.nodes.down(id),
    'the node of a publication': (id) => house.volumes.publish(key, id),
    'the node of an unpublication': (id) => house.volumes.unpublish(key, id),
    'the node of a claim': (nodeId) => house.volumes.claim(key, { ...claim, nodeId }),
    'the node of a list': (node) => house.volumes.list({ node }),
  };

  const all: [what: string, ask: (name: string) => Promise<unknown>, bad: string[]][] = [
    ...Object.entries(entries).map(([what, ask]): [string, typeof ask, string[]] => [what, ask, names]),
    ...Object.entries(nodeEntries).map(([what, ask]): [string, typeof ask, string[]] => [what, ask, nodeNames]),
  ];
  for (const [what, ask, bad] of all) {
    it(`V2 H1 R2 T1 ${what}: refused at once, whichever unfit name it has`, async () => {
      for (const name of bad) {
        const error = await refusalOf(ask(name));
        expect(error, shown(name)).to.include({ name: 'StagecraftError', code: 'INVALID_ARGUMENT' });
      }
      expect((await refusalOf(ask('constructor'))).message).to.contain('every JavaScript object has');
    });
  }

  it('V2 H1 nothing of all that was kept', async () => {
    expect((await house.volumes.list()).items.map(({ key: { id } }) => id)).to.deep.equal(['data']);
    expect((await house.volumes.get(key))?.claims).to.deep.equal([]);
    expect(await house.runtime.allocations.list()).to.deep.equal([]);
    expect(house.runtime.tasks.list()).to.deep.equal([]);
    expect((await house.runtime.nodes.list()).map(({ id }) => id)).to.deep.equal(['a', 'b', 'c']);
  });

  for (const field of ['parameters', 'mutableParameters', 'secrets'] as const) {
    it(`V2 the key __proto__ in ${field}: refused, not dropped`, async () => {
      const asked: VolumeSpec = { ...spec('x'), [field]: JSON.parse('{"__proto__":"a"}') };
      const { code, faults } = await refusalOf(house.volumes.create(asked));
      expect([code, faults?.map((fault) => fault.split(':')[0])]).to.deep.equal(['INVALID_ARGUMENT', [field]]);
    });
  }

  describe('A4 through the API', () => {
    let close: () => Promise<void>;
    let socketPath: string;

    before(async () => {
      socketPath = join(house.directory, 'agent.sock');
      const drain = async (): Promise<void> => {};
      close = await serveApi({ runtime: house.runtime, socketPath, version: '0', storeKind: 'lmdb', drain });
    });
    after(() => close());

    const requests: Record<string, (name: string) => [method: 'GET' | 'POST' | 'DELETE', path: string, body?: object]> =
      {
        'a volume': (id) => ['POST', '/v1/volumes', spec(id)],
        'a volume in the path': (id) => ['GET', `/v1/volumes/default/${encodeURIComponent(id)}`],
        'a node': (id) => ['POST', `/v1/nodes/${encodeURIComponent(id)}/down`],
        'an alloc': (id) => ['POST', `/v1/allocs/${encodeURIComponent(id)}/prepare`, { volumes: alloc({}) }],
        'the name of a volume in an alloc': (name) => ['POST', '/v1/allocs/web/prepare', { volumes: alloc({ name }) }],
        'a snapshot': (id) => ['POST', '/v1/snapshots', { id, volume: key }],
      };
    for (const [what, request] of Object.entries(requests)) {
      it(`A4 ${what}: 400 INVALID_ARGUMENT, whichever unfit name it has`, async () => {
        for (const name of ofEveryObject) {
          const { status, code } = await answerOf(socketPath, ...request(name));
          expect([status, code], name).to.deep.equal([400, 'INVALID_ARGUMENT']);
        }
      });
    }
  });

  for (const name of ofEveryObject) {
    it(`A2 the configuration names the node or a task ${name}: refused, with its line`, () => {
      const text = `nodeId: ${name}\ntasks:\n  - { id: ${name}, type: node, socket: /nowhere/x.sock }\n`;
      expect(() => parseConfig(text, 'a.yaml'))
        .to.throw()
        .with.property('message')
        .that.contains('a.yaml:1: nodeId: ')
        .and.contains('a.yaml:3: tasks[0].id: ');
    });
  }
});
