/**
 * Records whose bytes were damaged where they lie: named and left alone, and the rest is restored. What may be wrong
 * with the text of a record: restore.test.ts
 */
import { expect } from 'chai';
import { pluginAddress } from '../../machines/kit/addresses.js';
import { Cable } from './cable.js';
import { device, gpus, House, nodeId, refusal } from './house.js';
import { inLmdb, inRedis, type RawData } from './kept-data.js';

const tpu = device('b1', { name: 'tpu' });
const a2 = pluginAddress(nodeId, 'device', 'gpu', 'a2');

for (const [name, make] of [
  ['lmdb', () => inLmdb()],
  ['redis', inRedis],
] satisfies [string, () => Promise<RawData>][]) {
  describe(`damaged records on ${name}`, () => {
    let house: House;
    let data: RawData;
    let errors: string[];

    beforeEach(async () => {
      data = await make();
      errors = [];
      house = await new House(new Cable(data.store())).open({
        logger: {
          debug() {},
          info() {},
          warn() {},
          error: (fields, message) => void errors.push(`${message} ${JSON.stringify(fields)}`),
        },
      });
      await house.register(device('a1'), device('a2'), tpu);
    });

    afterEach(async () => {
      await house.dispose();
      await data.remove();
    });

    async function reopenWith(address: string, how: 'text' | 'row'): Promise<void> {
      await house.runtime.close();
      await data.damage(address, how);
      house.store = new Cable(data.store());
      await house.open();
      await house.rest();
    }

    for (const how of ['text', 'row'] as const) {
      it(`R11 the ${how} of a name: it is named, refused and left as it is; the others are there and run`, async () => {
        await reopenWith(gpus, how);
        expect(house.runtime.actors.quarantined().map(({ address }) => address)).to.deep.equal([gpus]);
        expect(errors.join('\n')).to.include(gpus);
        expect(house.plugins.list()).to.deep.equal([tpu]);
        expect(house.plugins.status('device', 'tpu')).to.include({ state: 'healthy' });
        expect((await refusal(() => house.plugins.register(device('a3')))).code).to.equal('ACTOR_QUARANTINED');
        const before = await house.store.load(gpus);
        await house.restart(new Cable(data.store()));
        await house.rest();
        expect(await house.store.load(gpus)).to.deep.equal(before);
        expect(house.plugins.list()).to.deep.equal([tpu]);
      });

      it(`R11 the ${how} of an instance: it is named, its name still lists it, the other ones run`, async () => {
        await reopenWith(a2, how);
        expect(house.runtime.actors.quarantined().map(({ address }) => address)).to.deep.equal([a2]);
        expect(errors.join('\n')).to.include(a2);
        expect(house.allocIds()).to.deep.equal(['a2', 'a1']);
        expect(house.plugins.status('device', 'gpu')).to.include({ healthy: false });
        expect(house.kind.looks.slice(3).map(({ request }) => request.info)).to.have.deep.members([device('a1'), tpu]);
        await house.plugins.deregister('device', 'gpu', 'a2');
        await house.rest();
        expect(house.plugins.status('device', 'gpu')).to.deep.include({ info: device('a1'), state: 'healthy' });
      });
    }
  });
}
