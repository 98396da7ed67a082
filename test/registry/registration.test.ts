/** Registering, deregistering, listing and dispensing plugins of a kind that the registry has never heard of. */
import { expect } from 'chai';
import { pluginAddress } from '../../machines/kit/addresses.js';
import type { PluginInfo } from '../../machines/plugin/plugin.js';
import { FakeKind } from './fake-kind.js';
import { device, gpus, House, nodeId, nowhere, refusal } from './house.js';

describe('plugin registration', () => {
  let house: House;

  beforeEach(async () => {
    house = await new House().open();
  });

  afterEach(() => house.dispose());

  describe('keys', () => {
    it('R1 instances stand under type and name, newest first, and the newest is the active one', async () => {
      await house.register(device('a1'), device('a2'), device('a3'));
      expect(house.allocIds()).to.deep.equal(['a3', 'a2', 'a1']);
      expect(house.plugins.list().map(({ allocId }) => allocId)).to.deep.equal(['a3']);
      expect(house.plugins.status('device', 'gpu').info).to.deep.equal(device('a3'));
    });

    it('R1 the same name and allocId in two types are two plugins', async () => {
      await house.runtime.close();
      await house.open({ dispensers: { device: house.kind, driver: new FakeKind() } });
      await house.register(device('a1'), device('a1', { type: 'driver' }), device('a2'));
      expect(house.allocIds('device')).to.deep.equal(['a2', 'a1']);
      expect(house.allocIds('driver')).to.deep.equal(['a1']);
      await house.plugins.deregister('driver', 'gpu', 'a1');
      expect(house.allocIds('device')).to.deep.equal(['a2', 'a1']);
      expect(house.allocIds('driver')).to.deep.equal([]);
    });

    it('R1 names that look like paths, or like each other once encoded, stay apart', async () => {
      const names = ['a', 'a/b', 'a%2Fb', '../a', 'ü', '日本', '😀', ' ', '.'];
      for (const name of names) await house.register(device('x', { name }));
      expect(house.plugins.list().map(({ name }) => name)).to.have.members(names);
      for (const name of names) expect(house.plugins.forAlloc('device', name, 'x').name).to.equal(name);
    });
  });

  describe('faults of a registration', () => {
    const path = (bytes: number): string => `/${'x'.repeat(bytes - 1)}`;
    // @ts-expect-error: plain JavaScript may leave it out
    const noConnection: PluginInfo = { type: 'device', name: 'gpu', allocId: 'a1' };
    const faults: [title: string, info: PluginInfo, code: string][] = [
      ['no registration at all', JSON.parse('[]')[0], 'INVALID_ARGUMENT'],
      ['a text for one', JSON.parse('"gpu"'), 'INVALID_ARGUMENT'],
      ['an empty type', device('a1', { type: '' }), 'PLUGIN_TYPE_MISSING'],
      ['an empty name', device('a1', { name: '' }), 'PLUGIN_NAME_MISSING'],
      ['an empty allocId', device(''), 'PLUGIN_ALLOC_ID_MISSING'],
      ['no connection', noConnection, 'SOCKET_PATH_MISSING'],
      ['an empty socket path', device('a1', { connection: { socketPath: '' } }), 'SOCKET_PATH_MISSING'],
      ['a relative socket path', device('a1', { connection: { socketPath: 'run/x.sock' } }), 'SOCKET_PATH_RELATIVE'],
      ['a socket path of 108 bytes', device('a1', { connection: { socketPath: path(108) } }), 'SOCKET_PATH_TOO_LONG'],
      [
        'a socket path of 54 characters and 108 bytes',
        device('a1', { connection: { socketPath: `/é${'é'.repeat(52)}x` } }),
        'SOCKET_PATH_TOO_LONG',
      ],
      ['a type without a dispenser', device('a1', { type: 'printer' }), 'NO_DISPENSER'],
      ['a type named like something of every object', device('a1', { type: 'constructor' }), 'NO_DISPENSER'],
      ['a name of 129 bytes', device('a1', { name: 'x'.repeat(129) }), 'INVALID_ARGUMENT'],
      ['a name with a control character', device('a1', { name: 'gpu\n' }), 'INVALID_ARGUMENT'],
      ['an allocId with a control character', device('a\u0000'), 'INVALID_ARGUMENT'],
      ['a name that every object has', device('a1', { name: 'constructor' }), 'INVALID_ARGUMENT'],
      ['an allocId that every object has', device('__proto__'), 'INVALID_ARGUMENT'],
      ['a name with half a surrogate pair', device('a1', { name: 'x\ud800' }), 'INVALID_ARGUMENT'],
      ['an allocId with half a surrogate pair', device('\udc00'), 'INVALID_ARGUMENT'],
      ['a version that is no string', device('a1', { version: JSON.parse('7') }), 'INVALID_ARGUMENT'],
      ['options that are a list', device('a1', { options: JSON.parse('["x"]') }), 'INVALID_ARGUMENT'],
      ['options that are null', device('a1', { options: JSON.parse('null') }), 'INVALID_ARGUMENT'],
      ['an option that is no string', device('a1', { options: JSON.parse('{"x":{}}') }), 'INVALID_ARGUMENT'],
      ['options of 4,097 bytes', device('a1', { options: { x: 'é'.repeat(2_048) } }), 'INVALID_ARGUMENT'],
      ['a NUL in the socket path', device('a1', { connection: { socketPath: '/a\0b' } }), 'INVALID_ARGUMENT'],
    ];

    it('R2 every fault that the list names has a code of its own', () => {
      const codes = faults.map(([, , code]) => code);
      expect(new Set(codes)).to.have.property('size', 8);
    });

    for (const [title, info, code] of faults) {
      it(`R2 ${title}: ${code}, and nothing has changed: no commit, no event, no client`, async () => {
        await house.register(device('a0'));
        const [commits, told, clients] = [house.commits.length, await house.told(), house.kind.clients.length];
        const error = await refusal(() => house.plugins.register(info));
        await house.rest();
        expect(error.code, error.message).to.equal(code);
        expect(house.commits.length).to.equal(commits);
        expect(await house.told()).to.deep.equal(told);
        expect(house.kind.clients.length).to.equal(clients);
        expect(house.plugins.list()).to.deep.equal([device('a0')]);
      });
    }

    it('R2 what must be a string is something else: INVALID_ARGUMENT, which says so', async () => {
      for (const [what, more] of [
        ['type', '{"type":5}'],
        ['name', '{"name":5}'],
        ['allocId', '{"allocId":["a1"]}'],
        ['connection.socketPath', '{"connection":{"socketPath":true}}'],
      ] as const) {
        const { code, message } = await refusal(() => house.plugins.register({ ...device('a1'), ...JSON.parse(more) }));
        expect([code, message]).to.deep.equal(['INVALID_ARGUMENT', `the ${what} must be a string`]);
      }
    });

    it('R2 names that make too long an address on this node: INVALID_ARGUMENT, and nothing has changed', async () => {
      await house.runtime.close();
      await house.open({ nodeId: 'é'.repeat(128) });
      const connection = { socketPath: '/nowhere/a.sock' };
      const tooLong = device('y'.repeat(128), { name: 'x'.repeat(128), connection });
      const { length } = house.commits;
      expect((await refusal(() => house.plugins.register(tooLong))).code).to.equal('INVALID_ARGUMENT');
      expect(house.commits).to.have.lengthOf(length);
      await house.register({ ...tooLong, allocId: 'a1' });
      expect(house.plugins.status('device', tooLong.name).state).to.equal('healthy');
    });

    it('R2 a socket path of just 107 bytes, names of 128, and options of 4,096, are taken', async () => {
      const long = 'x'.repeat(128);
      const options = { '': '', xx: 'é'.repeat(2_047) };
      const info = device(long, { name: long, connection: { socketPath: path(107) }, options });
      await house.register(info);
      expect(house.plugins.list()).to.deep.equal([info]);
      expect(house.plugins.status('device', long).state).to.equal('healthy');
    });
  });

  describe('register', () => {
    it('R3 the promise resolves after the commit, with the instance in front and its event told', async () => {
      await house.plugins.register(device('a1'));
      expect(house.commits.map(({ address }) => address)).to.include(gpus);
      expect(house.allocIds()).to.deep.equal(['a1']);
      await house.rest();
      expect(await house.told()).to.deep.equal(['registered a1', 'a1 unknown → true: ready']);
    });

    it('R3 many at once: every one is there, each once, in the order of the calls', async () => {
      const ids = Array.from({ length: 50 }, (_, n) => `a${n}`);
      await Promise.all(ids.map((allocId) => house.plugins.register(device(allocId))));
      expect(house.allocIds()).to.deep.equal(ids.toReversed());
    });

    it('R3 what the caller does with its objects afterwards changes nothing', async () => {
      const info = device('a1', { options: { mode: 'fast' } });
      const registered = house.plugins.register(info);
      Object.assign(info.options ?? {}, { mode: 'slow' });
      info.connection.socketPath = 'nonsense';
      await registered;
      await house.rest();
      expect(house.plugins.list()).to.deep.equal([device('a1', { options: { mode: 'fast' } })]);
    });

    it('R8 what callers do with the answers changes nothing', async () => {
      const info = device('a1', { options: { mode: 'fast' } });
      house.kind.find = () => ({ healthy: true, description: 'ready', capabilities: ['SPIN'] });
      await house.register(info);
      const { plugins } = house;
      for (const answer of [
        plugins.list()[0],
        plugins.instances('device', 'gpu')[0],
        plugins.forAlloc('device', 'gpu', 'a1'),
      ]) {
        Object.assign(answer?.options ?? {}, { mode: 'slow' });
        if (answer) answer.connection.socketPath = 'nonsense';
      }
      plugins.status('device', 'gpu').fingerprint.capabilities?.pop();
      plugins.status('device', 'gpu').info.allocId = 'a9';
      expect(plugins.list()).to.deep.equal([info]);
      expect(plugins.status('device', 'gpu')).to.deep.include({ info, state: 'healthy' });
      expect(plugins.status('device', 'gpu').fingerprint.capabilities).to.deep.equal(['SPIN']);
    });

    it('R3 fields that a definition does not have are left out', async () => {
      const info = Object.assign(device('a1'), { secret: 'x' });
      await house.register(info);
      expect(house.plugins.list()).to.deep.equal([device('a1')]);
    });
  });

  describe('the same allocId again', () => {
    const whole = device('a1', { version: '1', options: { x: '1', y: '2' } });

    it('R4 with the same definition in another order of keys: no event, no reorder, the same client goes on', async () => {
      await house.register(whole, device('a2'));
      const told = await house.told();
      await house.register({
        options: { y: '2', x: '1' },
        version: '1',
        connection: whole.connection,
        allocId: 'a1',
        name: 'gpu',
        type: 'device',
      });
      expect(await house.told()).to.deep.equal(told);
      expect(house.plugins.instances('device', 'gpu')).to.deep.equal([device('a2'), whole]);
      expect(house.kind.closes).to.deep.equal([0, 0]);
      expect(await house.history(whole)).to.deep.equal(['begun', 'fingerprint.changed']);
    });

    for (const [title, changed] of [
      ['another version', { ...whole, version: '2' }],
      ['another socket', { ...whole, connection: { socketPath: `${nowhere}/other.sock` } }],
      ['other options', { ...whole, options: { x: '1' } }],
    ] satisfies [string, PluginInfo][]) {
      it(`R4 with ${title}: stored in its place, told as updated, its instance restarted on a new client`, async () => {
        await house.register(whole, device('a2'));
        const { length } = await house.told();
        await house.register(changed);
        expect(house.plugins.instances('device', 'gpu')).to.deep.equal([device('a2'), changed]);
        expect((await house.told()).slice(length)).to.deep.equal(['updated a1', 'a1 unknown → true: ready']);
        expect(house.kind.clients.map(({ info }) => info)).to.deep.equal([whole, device('a2'), changed]);
        expect(house.kind.closes).to.deep.equal([1, 0, 0]);
        expect(house.kind.lastLook.client).to.equal(house.kind.clients[2]);
        expect(house.kind.lastLook.request.basic).to.equal(undefined);
      });
    }

    it('R4 changed while a look at it is under way: that look ends, what it finds later counts for nothing', async () => {
      const release = house.kind.hold();
      await house.register(whole);
      const changed = { ...whole, version: '2' };
      await house.register(changed);
      expect(house.kind.looks.map(({ request }) => request.signal.aborted)).to.deep.equal([true, false]);
      expect(house.kind.closes).to.deep.equal([1, 0]);
      release({ healthy: true, description: 'the old one' });
      await house.rest();
      expect(house.plugins.status('device', 'gpu')).to.include({ state: 'fingerprinting' });
      release({ healthy: true, description: 'the new one' });
      await house.rest();
      expect(house.plugins.status('device', 'gpu')).to.deep.include({ info: changed, description: 'the new one' });
    });

    it('R4 changed ten times at once: the last definition counts, one client is open, one loop looks', async () => {
      await house.register(whole);
      const versions = Array.from({ length: 10 }, (_, n) => ({ ...whole, version: `v${n}` }));
      await Promise.all(versions.map((info) => house.plugins.register(info)));
      await house.rest();
      expect(house.plugins.list()).to.deep.equal(versions.slice(-1));
      const open = house.kind.clients.filter(({ closes }) => closes === 0);
      expect(open.map(({ info }) => info)).to.deep.equal(versions.slice(-1));
      expect(house.kind.closes.every((closes) => closes <= 1)).to.equal(true);
      const looks = house.kind.looks.length;
      await house.clock.advance(30_000);
      expect(house.kind.looks.length).to.equal(looks + 1);
    });

    it('R4 checkedAt says nothing of a definition that nobody has looked at yet', async () => {
      await house.register(whole);
      expect(house.plugins.status('device', 'gpu').checkedAt).to.equal(house.clock.now());
      house.kind.hold();
      await house.register({ ...whole, version: '2' });
      const { state, checkedAt } = house.plugins.status('device', 'gpu');
      expect([state, checkedAt]).to.deep.equal(['fingerprinting', undefined]);
    });
  });

  describe('deregister', () => {
    beforeEach(() => house.register(device('a1'), device('a2')));

    it('R5 the old instance goes after its replacement came: the replacement stays active', async () => {
      await house.plugins.deregister('device', 'gpu', 'a1');
      await house.rest();
      expect(house.allocIds()).to.deep.equal(['a2']);
      expect((await house.told()).slice(-2)).to.deep.equal(['deregistered a1', 'a1 healthy → false: shut down']);
      expect(house.kind.closes).to.deep.equal([1, 0]);
    });

    for (const [title, key] of [
      ['a name that is not there', ['device', 'tpu', 'a1']],
      ['an allocId that is not there', ['device', 'gpu', 'a9']],
    ] satisfies [string, [string, string, string]][]) {
      it(`R6 ${title}: success, nothing is told, nothing stops`, async () => {
        const told = await house.told();
        await house.plugins.deregister(...key);
        await house.rest();
        expect(await house.told()).to.deep.equal(told);
        expect(house.allocIds()).to.deep.equal(['a2', 'a1']);
        expect(house.kind.closes).to.deep.equal([0, 0]);
      });
    }

    it('R6 an unknown name leaves no trace in the store', async () => {
      const { length } = house.commits;
      await house.plugins.deregister('device', 'tpu', 'a1');
      expect(house.commits).to.have.lengthOf(length);
    });

    for (const [title, key, code] of [
      ['an unknown type', ['printer', 'gpu', 'a1'], 'PLUGIN_NOT_FOUND'],
      ['an empty type', ['', 'gpu', 'a1'], 'PLUGIN_TYPE_MISSING'],
      ['an empty name', ['device', '', 'a1'], 'PLUGIN_NAME_MISSING'],
      ['an empty allocId', ['device', 'gpu', ''], 'PLUGIN_ALLOC_ID_MISSING'],
    ] satisfies [string, [string, string, string], string][]) {
      it(`R6 ${title}: ${code}, nothing is told, nothing stops`, async () => {
        const [told, { length }] = [await house.told(), house.commits];
        const error = await refusal(() => house.plugins.deregister(...key));
        expect(error.code).to.equal(code);
        await house.rest();
        expect(await house.told()).to.deep.equal(told);
        expect(house.commits).to.have.lengthOf(length);
        expect(house.kind.closes).to.deep.equal([0, 0]);
      });
    }

    it('R6 twice at once: told once', async () => {
      const { plugins } = house;
      await Promise.all([plugins.deregister('device', 'gpu', 'a1'), plugins.deregister('device', 'gpu', 'a1')]);
      await house.rest();
      expect((await house.told()).filter((line) => line === 'deregistered a1')).to.have.lengthOf(1);
    });

    it('R7 deregistering the active instance promotes the one before it, in one commit', async () => {
      const { length } = await house.told();
      await house.plugins.deregister('device', 'gpu', 'a2');
      await house.rest();
      expect(house.allocIds()).to.deep.equal(['a1']);
      expect((await house.told()).slice(length, length + 2)).to.deep.equal(['deregistered a2', 'promoted a1 for a2']);
      const { rows } = await house.store.readTopic(`plugins/${nodeId}`, length, 2);
      expect(rows.map(({ source, index }) => [source, index])).to.deep.equal([
        [gpus, 0],
        [gpus, 1],
      ]);
      expect(rows[0]?.seq).to.equal(rows[1]?.seq);
      expect((await house.events())[length + 1]).to.deep.include({ info: device('a1'), from: device('a2') });
    });

    it('R7 deregistering the last instance leaves no empty list behind, neither here nor in the store', async () => {
      await house.plugins.deregister('device', 'gpu', 'a1');
      await house.plugins.deregister('device', 'gpu', 'a2');
      await house.rest();
      expect(house.plugins.list()).to.deep.equal([]);
      expect(house.plugins.instances('device', 'gpu')).to.deep.equal([]);
      const { rows } = await house.store.list({ prefix: 'plugin', limit: 10 });
      expect(rows).to.deep.equal([]);
      expect((await house.told()).filter((line) => line.startsWith('promoted'))).to.deep.equal([]);
    });

    it('I13 a deregistered instance is stopped and its client closed, once', async () => {
      await house.plugins.deregister('device', 'gpu', 'a2');
      await house.rest();
      expect(await house.history(device('a2'))).to.deep.equal(['begun', 'fingerprint.changed', 'plugin.shutdown']);
      expect(house.kind.closes).to.deep.equal([0, 1]);
      const looks = house.kind.looks.length;
      await house.clock.advance(600_000);
      expect(house.kind.closes).to.deep.equal([0, 1]);
      expect(house.kind.looks.slice(looks).every(({ client }) => client === house.kind.clients[0])).to.equal(true);
    });

    it('I13 deregistered and registered again at once: a new instance with a client of its own', async () => {
      const { plugins } = house;
      await Promise.all([plugins.deregister('device', 'gpu', 'a2'), plugins.register(device('a2'))]);
      await house.rest();
      expect(house.allocIds()).to.deep.equal(['a2', 'a1']);
      expect(house.kind.closes).to.deep.equal([0, 1, 0]);
      expect(await plugins.dispense('device', 'gpu')).to.equal(house.kind.clients[2]);
      expect(plugins.status('device', 'gpu').healthy).to.equal(true);
      await house.clock.advance(30_000);
      expect(house.kind.looks.slice(-2).map(({ client }) => client)).to.have.members([
        house.kind.clients[0],
        house.kind.clients[2],
      ]);
    });
  });

  describe('questions', () => {
    it('R8 list: the active instance of each name, of one type or of all; forAlloc: just the one', async () => {
      await house.register(device('a1'), device('a2'), device('b1', { name: 'tpu' }));
      expect(house.plugins.list('device')).to.deep.equal([device('a2'), device('b1', { name: 'tpu' })]);
      expect(house.plugins.list('csi-node')).to.deep.equal([]);
      expect(house.plugins.list('dev')).to.deep.equal([]);
      expect(house.plugins.forAlloc('device', 'gpu', 'a1')).to.deep.equal(device('a1'));
    });

    for (const key of [
      ['printer', 'gpu', 'a1'],
      ['device', 'tpu', 'a1'],
      ['device', 'gpu', 'a9'],
    ] satisfies [string, string, string][]) {
      it(`R8 forAlloc ${key.join('/')}, which is not there: PLUGIN_NOT_FOUND`, async () => {
        await house.register(device('a1'));
        expect(await refusal(() => house.plugins.forAlloc(...key))).to.have.property('code', 'PLUGIN_NOT_FOUND');
      });
    }

    it('R8 status of what is not there: PLUGIN_NOT_FOUND', async () => {
      expect(await refusal(() => house.plugins.status('device', 'gpu'))).to.have.property('code', 'PLUGIN_NOT_FOUND');
    });
  });

  describe('dispense', () => {
    it('R9 gives the client of the active instance, the very one that is looked through', async () => {
      await house.register(device('a1'), device('a2'));
      const client = await house.plugins.dispense('device', 'gpu');
      expect(client).to.equal(house.kind.clients[1]);
      expect(house.kind.looks[1]?.client).to.equal(client);
      expect(await house.plugins.dispense('device', 'gpu')).to.equal(client);
    });

    it('R9 just registered, before anybody has looked: the client is connected once all the same', async () => {
      await house.plugins.register(device('a1'));
      const client = await house.plugins.dispense('device', 'gpu');
      await house.rest();
      expect(house.kind.clients).to.deep.equal([client]);
    });

    it('R9 defined again before its restart: the client of the new definition, which stays', async () => {
      await house.register(device('a1'));
      await house.plugins.register(device('a1', { version: '2' }));
      const client = await house.plugins.dispense('device', 'gpu');
      await house.rest();
      expect(house.kind.clients.map(({ info, closes }) => [info.version, closes])).to.deep.equal([
        [undefined, 1],
        ['2', 0],
      ]);
      expect(client).to.equal(house.kind.clients[1]);
      expect(house.kind.lastLook.client).to.equal(client);
    });

    it('R9 no dispenser for the type comes before no plugin of the type, which comes before plugin not found', async () => {
      const first = await refusal(() => house.plugins.dispense('printer', 'gpu'));
      const second = await refusal(() => house.plugins.dispense('device', 'gpu'));
      await house.register(device('a1', { name: 'tpu' }));
      const third = await refusal(() => house.plugins.dispense('device', 'gpu'));
      expect([first, second, third].map(({ code }) => code)).to.deep.equal([
        'NO_DISPENSER',
        'PLUGIN_NOT_FOUND',
        'PLUGIN_NOT_FOUND',
      ]);
      expect(second.message).to.include('no plugin of type device');
      expect(third.message).to.include("no device plugin 'gpu'");
    });

    it('R9 a client that can not be made: the error of the dispenser, and another try next time', async () => {
      await house.plugins.register(device('a1'));
      house.kind.connecting = () => {
        throw new Error('out of handles');
      };
      const error = await house.plugins.dispense('device', 'gpu').catch((reason: unknown) => reason);
      expect(error).to.be.an('error').with.property('message', 'out of handles');
      house.kind.connecting = () => {};
      expect(await house.plugins.dispense('device', 'gpu')).to.equal(house.kind.clients[0]);
    });
  });

  it('R14 registering costs as many commits and bytes for the thousandth plugin as for the second', async () => {
    const cost = async (n: number): Promise<[commits: number, bytes: number]> => {
      const before = house.commits.length;
      await house.register(device('a1', { name: `gpu-${String(n).padStart(4, '0')}` }));
      const made = house.commits.slice(before);
      return [made.length, made.reduce((sum, { text, journal }) => sum + text.length + journal.length, 0)];
    };
    await cost(0);
    const second = await cost(1);
    for (let n = 2; n < 999; n += 1)
      await house.plugins.register(device('a1', { name: `gpu-${String(n).padStart(4, '0')}` }));
    await house.rest();
    const [commits, bytes] = await cost(999);
    expect(commits).to.equal(second[0]);
    expect(bytes).to.be.closeTo(second[1], 40);
  });

  it('R15 a custom kind needs only a dispenser: it has basics, capabilities, health and events', async () => {
    const basic = { pluginName: 'acme gpu', vendorVersion: '7', topology: { slot: '3' } };
    house.kind.find = () => ({ healthy: true, description: 'cool', basic, capabilities: ['SPIN', 'GLOW'] });
    await house.register(device('a1', { options: { mode: 'fast' } }));
    expect(house.plugins.status('device', 'gpu')).to.deep.equal({
      info: device('a1', { options: { mode: 'fast' } }),
      state: 'healthy',
      healthy: true,
      description: 'cool',
      fingerprint: { ...basic, capabilities: ['SPIN', 'GLOW'] },
      checkedAt: house.clock.now(),
    });
    expect(await house.told()).to.deep.equal(['registered a1', 'a1 on - slot=3', 'a1 unknown → true: cool']);
    expect((await house.store.load(pluginAddress(nodeId, 'device', 'gpu', 'a1')))?.text).to.include('GLOW');
  });
});
