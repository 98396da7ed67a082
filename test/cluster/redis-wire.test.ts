/** Inboxes of agents on real servers: one, and a cluster of three masters. */
import { expect } from 'chai';
import type { Wire } from '../../src/engine/store.js';
import type { RedisStoreOptions } from '../../src/stores/redis/redis-options.js';
import { RedisLab } from '../redis/lab.js';
import { type RedisProcess, startCluster } from '../redis/servers.js';
import { eventually } from '../scenarios/redis-scene.js';

describe('inboxes in Redis', function () {
  this.timeout(60_000);
  const lab = new RedisLab();
  let cluster: RedisProcess[] = [];
  let stop: AbortController;

  before(async () => {
    cluster = await startCluster();
  });
  after(() => Promise.all(cluster.map((node) => node.remove())));
  beforeEach(() => {
    stop = new AbortController();
  });
  afterEach(async () => {
    stop.abort();
    await lab.clear();
  });

  const wireOf = async (options: RedisStoreOptions): Promise<Wire> => {
    const { wire } = (await lab.store(options)).store;
    if (!wire) throw new Error('there is no wire');
    return wire;
  };
  const servers: Record<string, () => Promise<RedisStoreOptions>> = {
    'one server': async () => ({ url: (await lab.server()).url }),
    'a cluster': async () => ({ cluster: cluster.map(({ port }) => ({ host: '127.0.0.1', port })) }),
  };

  for (const [name, where] of Object.entries(servers)) {
    it(`D1 ${name}: every text is heard once, in the order of its sender, in each of many inboxes`, async () => {
      const options = await where();
      const senders = [await wireOf(options), await wireOf(options)];
      const inboxes = ['a', 'b', 'c', 'd', 'e'];
      const heard = new Map(inboxes.map((inbox): [string, string[]] => [inbox, []]));
      for (const inbox of inboxes)
        await (await wireOf(options)).listen(inbox, (text) => heard.get(inbox)?.push(text), stop.signal);
      const count = 200;
      await Promise.all(
        senders.map(async (wire, sender) => {
          for (let at = 0; at < count; at += 1)
            for (const inbox of inboxes) expect(await wire.post(inbox, `${sender} ${at}`)).to.equal(true);
        }),
      );
      await eventually('all is heard', () => [...heard.values()].every((texts) => texts.length >= 2 * count));
      const expected = Array.from({ length: count }, (_, at) => at);
      for (const texts of heard.values())
        for (const sender of [0, 1]) {
          const own = texts.filter((text) => text.startsWith(`${sender} `)).map((text) => Number(text.slice(2)));
          expect(own).to.deep.equal(expected);
        }
    });
  }

  it('D5 an inbox that nobody ever made takes nothing, and its sender knows', async () => {
    const wire = await wireOf({ url: (await lab.server()).url });
    expect(await wire.post('nobody', 'text')).to.equal(false);
  });

  it('D5 the server is killed and comes back: what is sent then is heard', async () => {
    const server = await lab.server({ config: ['appendonly yes', 'appendfsync always'] });
    const wire = await wireOf({ url: server.url });
    const heard: string[] = [];
    await wire.listen('a', (text) => heard.push(text), stop.signal);
    await wire.post('a', 'before');
    await eventually('it is heard', () => heard.includes('before'));
    await server.kill();
    expect(await wire.post('a', 'lost').catch(() => 'refused')).to.equal('refused');
    await server.run();
    await eventually('it can be sent again', () => wire.post('a', 'after').catch(() => false));
    await eventually('it is heard', () => heard.includes('after'));
  });

  it('D10 who listens no more asks the server nothing', async () => {
    const server = await lab.server();
    const wire = await wireOf({ url: server.url });
    await wire.listen('a', () => {}, stop.signal);
    stop.abort();
    await eventually('its inbox is gone', async () => !(await wire.post('a', 'text')));
    await eventually(
      'its connection is closed',
      async () => !String(await server.client().client('LIST')).includes('cmd=xread'),
    );
  });
});
