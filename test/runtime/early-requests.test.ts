/** An owner that has not started its node side yet: it does what other agents ask for. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../src/engine/clock.js';
import { SharedStore } from '../../src/engine/storage/shared-store.js';
import type { Store } from '../../src/engine/store.js';
import { createRuntime } from '../../src/runtime/runtime.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { seededRandom } from '../../src/testing/index.js';
import { refusalOf } from '../refusal.js';
import { MemoryWires } from '../support/memory-wire.js';

describe('an owner that still compares its mounts', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'stagecraft-early-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('H1, 36.5 requests of another agent, which have waited for an owner, are done', async () => {
    const shared = new SharedStore(memoryStore());
    const kept = shared.handle();
    await kept.open();
    const wires = new MemoryWires({ clock: systemClock, random: seededRandom(1) });
    const at = (nodeId: string) => ({ nodeId, dataDir: join(directory, nodeId) });
    const other = await createRuntime({
      ...{ ...at('b'), cluster: { own: 'never' } },
      store: { ...shared.handle(), wire: wires.wire() },
    });
    const answers = Promise.allSettled([
      other.nodes.report({ id: 'n9', plugins: [] }),
      refusalOf(other.volumes.unpublish({ id: 'none' }, 'n9')),
    ]);
    const inner = shared.handle();
    const isPlace = (items: Parameters<Store['commit']>[0]): boolean =>
      JSON.stringify(items).includes('registry.placed');
    const commit: Store['commit'] = async (items) => {
      // The node side begins with this commit.
      if (isPlace(items)) await answers;
      return inner.commit(items);
    };
    const owner = await createRuntime({ ...at('a'), store: { ...inner, commit, wire: wires.wire() } });
    for (const part of [other, owner, kept]) await part.close();
    const [reported, refused] = await answers;
    expect(reported.status).to.equal('fulfilled');
    expect(refused).to.have.nested.property('value.code', 'VOLUME_NOT_FOUND');
  });
});
