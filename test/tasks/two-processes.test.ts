/** Drivers whose controller side and node side are two processes: two tasks, one plugin. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseConfig } from '../../src/agent/config.js';
import type { StagecraftError, TaskOptions } from '../../src/index.js';
import { TaskHouse, until } from './task-house.js';

const capability = { accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;
const sleeping = { command: ['sleep', '600'], healthTimeoutMs: 600_000 };

describe('a driver of two processes', () => {
  let house: TaskHouse;
  beforeEach(async () => {
    house = await new TaskHouse().open();
  });
  afterEach(async () => {
    await house.runtime.close({ release: true });
    await house.dispose();
  });

  /** Tasks of the example, with the directory of this test. */
  function tasksOf(example: string): TaskOptions[] {
    const path = new URL(`../../docs/examples/${example}`, import.meta.url);
    const text = readFileSync(path, 'utf8').replaceAll('/var/lib/disk', join(house.dataDir, 'disk'));
    return parseConfig(text, example).tasks;
  }
  const refusalOf = (options: TaskOptions): Promise<StagecraftError> =>
    house.runtime.tasks.start(options).then(
      () => expect.fail('it was taken'),
      (error: StagecraftError) => error,
    );

  it('34.21 the example: two tasks bring up one plugin, and a volume is made and mounted by both', async () => {
    const { tasks, plugins, volumes, allocations } = house.runtime;
    const [controller, node, ...others] = tasksOf('two-processes.yaml');
    if (!controller || !node || others.length > 0) throw new Error('the example has two tasks');
    await tasks.start(controller);
    await tasks.start(node);
    await Promise.all(
      ['csi-controller', 'csi-node'].map((type) => plugins.waitFor(type, 'disk', { timeoutMs: 120_000 })),
    );
    const pids = tasks.list().map(({ pid }) => pid);
    expect(new Set(pids).size).to.equal(2);
    expect(
      plugins
        .list()
        .map(({ type, name }) => `${type} ${name}`)
        .sort(),
    ).to.deep.equal(['csi-controller disk', 'csi-node disk']);
    await volumes.create({ id: 'data', plugin: 'disk', capabilities: [capability] });
    await allocations.prepare('web', [{ name: 'data', volume: { id: 'data' }, mode: 'write', taskPath: '/data' }]);
    // Mounted volumes protect the node side of the plugin alone.
    const refusal = await tasks.stop('disk-node').catch((error: unknown) => error);
    expect(refusal).to.include({ code: 'PLUGIN_IN_USE' });
    await tasks.stop('disk-controller');
    expect(tasks.status('disk-node').state).to.equal('running');
    await tasks.start(controller);
    await plugins.waitFor('csi-controller', 'disk', { timeoutMs: 120_000 });
  });

  it('34.21 a second task for the same side of a plugin is refused, and names the first', async () => {
    await house.runtime.tasks.start({ ...sleeping, id: 'one', plugin: 'disk', type: 'node' });
    for (const type of ['node', 'monolith'] as const) {
      const refusal = await refusalOf({ ...sleeping, id: 'two', plugin: 'disk', type });
      expect(refusal.code).to.equal('INVALID_ARGUMENT');
      expect(refusal.message).to.include("task one runs the csi-node plugin 'disk'");
    }
    await house.runtime.tasks.start({ ...sleeping, id: 'two', plugin: 'disk', type: 'controller' });
  });

  it('34.21 without plugin the id is its name; another name begins another run', async () => {
    const { tasks } = house.runtime;
    await tasks.start({ ...sleeping, id: 'one', type: 'node' });
    const { spec, allocId } = tasks.status('one');
    expect(spec.plugin).to.equal('one');
    await tasks.start({ ...sleeping, id: 'one', plugin: 'one', type: 'node' });
    expect(tasks.status('one').allocId).to.equal(allocId);
    await tasks.start({ ...sleeping, id: 'one', plugin: 'disk', type: 'node' });
    expect(tasks.status('one').allocId).to.not.equal(allocId);
    const [change] = (await until(house.updates, 'restarting')).slice(-1);
    expect(change).to.include({ id: 'one', plugin: 'disk' });
  });
});
