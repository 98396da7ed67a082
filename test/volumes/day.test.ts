/** Simulates a day of a small cluster, prints it as a table, and checks what must hold at its end. */
import { expect } from 'chai';
import { type Hour, SmallCluster } from '../nodes/small-cluster.js';

/** Number of volumes in the test. A full day takes too long for a test, and shows nothing more. */
const size = { plugins: 3, nodes: 50, volumes: Number(process.env.VOLUMES ?? 500) };

const columns: (keyof Hour)[] = [
  'created',
  'published',
  'unpublished',
  'deleted',
  'claims',
  'calls',
  'failures',
  'nodesDown',
  'fenced',
  'outages',
  'pending',
];

function table(hours: Hour[]): string {
  const rows = [columns, ...hours.map((hour) => columns.map((column) => hour[column]))];
  return rows
    .map((row, at) => [at === 0 ? 'hour' : at - 1, ...row].map((cell) => String(cell).padStart(12)).join(''))
    .join('\n');
}

describe('a day of a small cluster', () => {
  const cluster = new SmallCluster(size);
  before(async () => {
    await cluster.open();
    await cluster.live(24);
    await cluster.settle();
    console.log(table(cluster.hours.slice(0, -1)));
  });
  after(() => cluster.close());

  it('no work is left once faults stop', () => {
    expect(cluster.hours.at(-2)?.pending).to.equal(0);
  });

  it('plugins and records agree: no volume leaked, none lost', async () => {
    const real = new Map<string, string[]>();
    for (const [name, plugin] of cluster.plugins)
      for (const { id, attached } of plugin.volumes.values()) real.set(`${name} ${id}`, [...attached].sort());
    const believed = new Map<string, string[]>();
    for (const volume of await cluster.all()) {
      const attached = Object.values(volume.publications).map(({ csiNodeId }) => csiNodeId);
      believed.set(`${volume.plugin} ${volume.csiId}`, attached.sort());
    }
    expect([...believed].sort()).to.deep.equal([...real].sort());
    expect(believed.size).to.be.above(0);
  });

  it('no call broke a rule: no overlap on a volume, no unknown node, no deletion of an attached volume', () => {
    expect([...cluster.plugins.values()].flatMap(({ wrongs }) => wrongs)).to.deep.equal([]);
  });

  it('no volume had two claims at a time, and no refusal was unexpected', () => {
    expect(cluster.surprises).to.deep.equal([]);
  });

  it('V19 each call had the secrets of its time, and no secret was ever stored', () => {
    expect(cluster.stale).to.deep.equal([]);
    expect(cluster.leaked).to.deep.equal([]);
  });

  it('the day was busy: nodes went down, were fenced and came back; plugins restarted', () => {
    const sum = (column: keyof Hour): number => cluster.hours.reduce((total, hour) => total + hour[column], 0);
    for (const column of columns.filter((one) => one !== 'pending')) expect(sum(column), column).to.be.above(0);
    expect(sum('created')).to.equal(size.volumes);
  });
});
