/** Tests the topology that a new volume is asked for, and homes that no node has. */
import { expect } from 'chai';
import { csiError } from '../../src/csi/codes.js';
import { usualTopology } from '../../src/volumes/volume-kind.js';
import { refusalOf } from '../refusal.js';
import { managerOf } from './manager-of.js';
import { pluginName, spec, VolumeHouse } from './volume-house.js';

const key = { id: 'data' };
const zones = { a: { zone: 'z1' }, b: { zone: 'z2' }, c: { zone: 'z2' } };

describe('topology of new volumes', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().open();
    await house.register();
    await house.rest();
  });
  afterEach(async () => {
    expect(house.plugin.wrongs).to.deep.equal([]);
    await house.dispose();
  });

  const report = (id: keyof typeof zones, topology: Record<string, string> = zones[id]): Promise<void> =>
    house.runtime.nodes.report({ id, plugins: [{ name: pluginName, nodeId: `csi-${id}`, topology }] });
  const reportAll = async (): Promise<void> => {
    for (const id of ['a', 'b', 'c'] as const) await report(id);
  };
  /** Requests of all calls to create a volume. */
  const asked = (): unknown[] =>
    house.plugin.calls
      .filter(({ rpc }) => rpc === 'CreateVolume')
      .map(({ request }) => (request as { accessibilityRequirements?: unknown }).accessibilityRequirements);
  const at = (...places: object[]) => {
    const topologies = places.map((segments) => ({ segments }));
    return { requisite: topologies, preferred: topologies };
  };

  it('V18, 34.22 none named: where the nodes are, each place once, first where it was asked for', async () => {
    await reportAll();
    await managerOf(house.runtime).create(spec('data'), { askedOn: 'c' } as object);
    expect(asked()).to.deep.equal([at(zones.b, zones.a)]);
    const topology = { requisite: [zones.b, zones.a], preferred: [zones.b, zones.a] };
    expect((await house.volumes.get(key))?.topology).to.deep.equal(topology);
  });

  it('V18, 34.22 none named, and no node has told its topology: nothing is asked for', async () => {
    await house.runtime.nodes.report({ id: 'a', plugins: [{ name: pluginName, nodeId: 'csi-a' }] });
    await house.volumes.create(spec('data'));
    expect(asked()).to.deep.equal([undefined]);
    expect(await house.volumes.get(key)).not.to.have.property('topology');
  });

  it('V18, 34.22 plugin without topology: nothing is asked for, whatever the nodes have told', async () => {
    house.plugin.pluginCapabilities = ['CONTROLLER_SERVICE'];
    await house.clock.advance(31_000);
    await reportAll();
    await house.volumes.create(spec('data'));
    expect(asked()).to.deep.equal([undefined]);
  });

  it('V18, 34.22 nodes that are down, or have another plugin: not among the places', async () => {
    await reportAll();
    await house.runtime.nodes.down('a');
    const other = { name: 'other', nodeId: 'csi-c', topology: { zone: 'z3' } };
    await house.runtime.nodes.report({ id: 'c', plugins: [other] });
    await house.volumes.create(spec('data'));
    expect(asked()).to.deep.equal([at(zones.b)]);
  });

  it('V18, 34.22 the answer is lost, and a node joins: the repeat asks for the same, also after a restart', async () => {
    await report('a');
    let attempts = 0;
    house.plugin.script = () => {
      attempts += 1;
      return attempts < 4 ? { code: 'DEADLINE_EXCEEDED', work: true } : undefined;
    };
    const creating = house.volumes.create(spec('data')).catch(() => {});
    await house.rest();
    await report('b');
    await house.restart();
    await house.clock.advance(60_000);
    await creating;
    expect((await house.volumes.get(key))?.state).to.equal('created');
    expect(asked()).to.deep.equal(Array(4).fill(at(zones.a)));
  });

  it('V18, 34.22 refused for want of a place, then a node joins: a retry asks for the place of that node', async () => {
    const create = house.plugin.createVolume.bind(house.plugin);
    house.plugin.createVolume = async (request) => {
      const answer = await create(request);
      if (request.accessibilityRequirements) return answer;
      throw csiError('CreateVolume', 'INVALID_ARGUMENT', 'no topology was given');
    };
    await refusalOf(house.volumes.create(spec('data')));
    await report('b');
    await house.volumes.retry(key);
    await house.rest();
    expect(asked()).to.deep.equal([undefined, at(zones.b)]);
    expect((await house.volumes.get(key))?.state).to.equal('created');
  });

  it('V18, 34.22 named: nothing is added; without preferred ones those are the same', async () => {
    await reportAll();
    await house.volumes.create(spec('data', { topology: { requisite: [zones.a] } }));
    expect(asked()).to.deep.equal([at(zones.a)]);
    expect((await house.volumes.get(key))?.topology).to.deep.equal({ requisite: [zones.a], preferred: [] });
  });

  it('V18, 34.22 a repeat of the same request, after a node has joined: the same volume', async () => {
    await report('a');
    const first = await house.volumes.create(spec('data'));
    await report('b');
    expect((await house.volumes.create(spec('data'))).uid).to.equal(first.uid);
    expect(asked()).to.have.length(1);
  });

  it('V18, 34.22 the view tells where the volume can be used', async () => {
    house.plugin.accessibleTopology = [{ segments: { zone: 'z1' } }];
    await reportAll();
    await house.volumes.create(spec('data'));
    expect((await house.volumes.get(key))?.accessibleTopology).to.deep.equal([zones.a]);
  });

  it('V18, 34.22 a volume with a home: the place of that node alone, if it has told one', () => {
    const topologies = new Map(Object.entries(zones));
    const only = { requisite: [zones.a], preferred: [zones.a] };
    expect(usualTopology(topologies, { home: 'a', first: 'b' })).to.deep.equal(only);
    const none = { requisite: [], preferred: [] };
    expect(usualTopology(topologies, { home: 'elsewhere', first: 'b' })).to.deep.equal(none);
  });

  it('V2, 34.22 a home that no node has: refused, naming the nodes that could, and nothing is stored', async () => {
    await house.register({ scope: 'host' });
    await report('a');
    const error = await refusalOf(house.volumes.create(spec('data'), { home: 'typo' }));
    expect(error.code).to.equal('NODE_NOT_FOUND');
    expect(error.message).to.equal('there is no node typo to make the volume on: choose among a');
    expect(await house.volumes.get(key)).to.equal(undefined);
    await house.runtime.nodes.remove('a');
    const gone = await refusalOf(house.volumes.create(spec('data'), { home: 'a' }));
    expect(gone.code).to.equal('NODE_NOT_FOUND');
  });
});
