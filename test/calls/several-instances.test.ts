/** Admission of calls to a plugin that has instances on several nodes, as the roster tells of them. */
import { expect } from 'chai';
import { PluginAccess } from '../../src/calls/plugin-access.js';
import type { AdmittedCall, PluginObservation, PluginPort, PluginTarget } from '../../src/calls/plugin-port.js';
import { clusterPluginPort, FarPlugin } from '../../src/cluster/instances.js';
import type { Member } from '../../src/cluster/roster.js';
import { rosterPluginOf } from '../../src/cluster/roster-entry.js';
import { type SimulatedClock, simulatedClock } from '../../src/testing/simulated-clock.js';
import { refusalOf } from '../refusal.js';

const well: PluginObservation = {
  capabilities: new Set(['CREATE_DELETE_VOLUME']),
  pluginCapabilities: new Set(),
  hasService: true,
  wellAtMs: 1,
  scope: 'shared',
};

/** An agent, by default that of node `a`, and the members of its roster. */
class Fixture {
  readonly clock: SimulatedClock = simulatedClock();
  readonly members = new Map<string, Member>();
  own: PluginObservation | undefined;
  readonly #listeners = new Set<() => void>();
  readonly port: PluginPort;
  readonly access: PluginAccess;
  readonly #nodeId: string;

  constructor({ nodeId = 'a', maxInFlight = 64 } = {}) {
    this.#nodeId = nodeId;
    const local: PluginPort = {
      isKnown: () => this.own !== undefined,
      observation: () =>
        this.own ?? {
          ...{ trouble: 'it is not registered', troubleKind: 'absent', hasService: false, wellAtMs: 0 },
          pluginCapabilities: new Set(),
        },
      client: async () => 'own client',
      lookAgain: () => {},
      watch: (_, changed) => this.#listen(changed),
    };
    const roster = {
      members: this.members,
      onChange: (listener: (plugins: ReadonlySet<string>) => void) => this.#listen(() => listener(new Set(['disk']))),
    };
    this.port = clusterPluginPort({ local, roster, nodeId });
    this.access = new PluginAccess(this.port, { clock: this.clock, maxInFlight });
  }

  #listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  set(node: string, observation: PluginObservation | undefined, silentSinceMs?: number): void {
    if (node === this.#nodeId) this.own = observation;
    else if (!observation) this.members.delete(node);
    else
      this.members.set(node, {
        ...{ nodeId: node, run: '1', inbox: `${node}/1`, host: 'h', version: '1', startedAtMs: 0 },
        plugins: { disk: rosterPluginOf(observation, ['csi-controller']) },
        ...(silentSinceMs !== undefined && { silentSinceMs }),
      });
    for (const listener of [...this.#listeners]) listener();
  }

  async enter(target: Partial<PluginTarget> = {}): Promise<AdmittedCall> {
    const { signal } = new AbortController();
    return this.access.enter({ plugin: 'disk', ...target }, { signal, waits: () => {} });
  }

  now(target: Partial<PluginTarget> = {}): Promise<AdmittedCall | { reason: string }> {
    return this.access.enterNow({ plugin: 'disk', ...target }, { signal: new AbortController().signal });
  }
}

describe('instances of a plugin on several nodes', () => {
  const unwell = (trouble: string): PluginObservation => ({ ...well, trouble });

  it('D3 the instance of this node is called first; while it is unhealthy, one of another node', async () => {
    const fixture = new Fixture();
    fixture.set('b', well);
    fixture.set('a', well);
    const first = await fixture.enter();
    expect([first.node, await first.client()]).to.deep.equal([undefined, 'own client']);
    fixture.set('a', unwell('it is down'));
    const second = await fixture.enter();
    expect(second.node).to.equal('b');
    const client = await second.client();
    expect(client).to.be.instanceOf(FarPlugin);
    expect(client).to.deep.include({ plugin: 'disk', callee: { nodeId: 'b', inbox: 'b/1' } });
    fixture.set('a', well);
    expect((await fixture.enter()).node).to.equal(undefined);
  });

  it('34.2 the instance of this node has no service: one of another node is called, well or not', async () => {
    const fixture = new Fixture();
    fixture.set('a', { ...well, capabilities: new Set(), hasService: false });
    fixture.set('b', well);
    expect((await fixture.enter()).node).to.equal('b');
    fixture.set('b', unwell('it is down'));
    const refused = await fixture.now();
    expect(refused).to.have.property('reason').that.includes("plugin 'disk' of node b can't be called: it is down");
    fixture.set('b', undefined);
    expect((await fixture.enter()).node).to.equal(undefined);
  });

  it('34.2 the instance of this node offers less: one that offers more is called, and contradicts while unwell', async () => {
    const fixture = new Fixture();
    fixture.set('a', { ...well, capabilities: new Set(['GET_CAPACITY']), instance: 'disk-1' });
    const more = { ...well, capabilities: new Set(['CREATE_DELETE_VOLUME', 'GET_CAPACITY']), instance: 'disk-2' };
    fixture.set('b', more);
    expect((await fixture.enter()).node).to.equal('b');
    fixture.set('b', { ...more, trouble: 'it is down' });
    expect((await fixture.enter()).node).to.equal(undefined);
    expect(fixture.access.contradiction('disk', undefined, 'CREATE_DELETE_VOLUME')).to.include(
      "instance disk-1 of plugin 'disk' does not offer CREATE_DELETE_VOLUME, but instance disk-2 of plugin 'disk' of node b does",
    );
    expect(fixture.access.contradiction('disk', undefined, 'EXPAND_VOLUME')).to.equal(undefined);
  });

  it('34.2 two instances of another node disagree: the one that is not called contradicts, too', async () => {
    const fixture = new Fixture();
    const offeredBy = { CREATE_DELETE_VOLUME: 'disk-1' };
    fixture.set('b', { ...well, capabilities: new Set(['GET_CAPACITY']), instance: 'disk-2', offeredBy });
    expect(fixture.access.contradiction('disk', 'b', 'CREATE_DELETE_VOLUME')).to.include(
      "instance disk-2 of plugin 'disk' of node b does not offer",
    );
  });

  it('D3 no instance can be called: the reason says what is wrong with each, and who is away', async () => {
    const fixture = new Fixture();
    fixture.set('b', unwell('it is down'));
    fixture.set('c', well, 0);
    const refused = await fixture.now();
    expect(refused).to.have.property('reason').that.includes("plugin 'disk' of node b can't be called: it is down");
    expect(refused)
      .to.have.property('reason')
      .that.includes("plugin 'disk' of node c can't be called: its agent has been silent since 1970");
    expect(fixture.access.isClosed({ plugin: 'disk' })).to.equal(true);
  });

  it('D3 a call that waits goes to whichever instance can be called first, and reports each new reason', async () => {
    const fixture = new Fixture();
    fixture.set('b', unwell('it is down'));
    fixture.set('c', unwell('it is down too'));
    const reasons: string[] = [];
    const { signal } = new AbortController();
    const entering = fixture.access.enter({ plugin: 'disk' }, { signal, waits: (reason) => reasons.push(reason) });
    await fixture.clock.advance(1_000);
    fixture.set('b', unwell('it is being restarted'));
    await fixture.clock.advance(1_000);
    fixture.set('c', well);
    expect((await entering).node).to.equal('c');
    expect(reasons).to.have.lengthOf(2);
    expect(reasons[1]).to.include('it is being restarted');
  });

  it('D3 a wait for an instance ends with its limit or its signal', async () => {
    const fixture = new Fixture();
    fixture.set('b', unwell('it is down'));
    fixture.set('c', unwell('it is down'));
    const stop = new AbortController();
    const target = { plugin: 'disk' };
    const late = refusalOf(
      fixture.access.enter(target, { signal: new AbortController().signal, waitMs: 500, waits: () => {} }),
    );
    const aborted = fixture.access.enter(target, { signal: stop.signal, waits: () => {} }).catch((reason) => reason);
    await fixture.clock.advance(500);
    expect(await late).to.include({ code: 'PLUGIN_UNAVAILABLE' });
    stop.abort('given up');
    expect(await aborted).to.equal('given up');
  });

  it('D3 each instance has its own limit of calls; one that fails meanwhile is left for another', async () => {
    const fixture = new Fixture({ maxInFlight: 1 });
    fixture.set('a', well);
    fixture.set('b', well);
    const first = await fixture.enter();
    const waiting = fixture.enter();
    await fixture.clock.advance(10);
    fixture.set('a', unwell('it is down'));
    expect([first.node, (await waiting).node]).to.deep.equal([undefined, 'b']);
  });

  it('D3 an instance that does not answer is left alone until its next good probe; the others are called', async () => {
    const fixture = new Fixture();
    fixture.set('b', well);
    const [first, second] = ['b', 'c'];
    fixture.set('c', well);
    const nodes: (string | undefined)[] = [];
    for (let call = 0; call < 6; call += 1) {
      const admitted = await fixture.enter();
      nodes.push(admitted.node);
      admitted.leave({ grpcCode: 'UNAVAILABLE' });
    }
    expect(new Set(nodes.slice(0, 3)).size).to.equal(1);
    expect(new Set(nodes)).to.deep.equal(new Set([first, second]));
    expect(await fixture.now())
      .to.have.property('reason')
      .that.includes('did not answer 3 calls in a row');
    fixture.set('b', { ...well, wellAtMs: 2 });
    expect((await fixture.enter()).node).to.equal('b');
  });

  it('D4 plugin of scope host: the instance at the home of the volume is called, though this node has one', async () => {
    const fixture = new Fixture();
    const local = { ...well, scope: 'host' } as const;
    fixture.set('a', local);
    fixture.set('b', local);
    expect((await fixture.enter({ home: 'b' })).node).to.equal('b');
    expect((await fixture.enter({ home: 'a' })).node).to.equal(undefined);
    fixture.set('b', { ...local, trouble: 'it is down' });
    // The call is not made there: plugin-calls.ts compares the node with the home.
    expect((await fixture.enter({ home: 'b' })).node).to.equal(undefined);
    expect(fixture.access.troubleAt('disk', 'b')).to.include('it is down');
    expect(fixture.access.troubleAt('disk', 'c')).to.include("node c has no plugin 'disk'");
  });

  it('D3 a driver that bears one active controller: all agents call the same instance', async () => {
    const sole = { ...well, isSole: true };
    const nodes = ['a', 'b', 'c'];
    const called = nodes.map((nodeId) => {
      const fixture = new Fixture({ nodeId });
      for (const node of nodes) fixture.set(node, sole);
      return fixture.access.nodeFor({ plugin: 'disk' }) ?? nodeId;
    });
    expect(new Set(called).size).to.equal(1);
    const [first = ''] = called;
    const fixture = new Fixture();
    for (const node of nodes) fixture.set(node, node === first ? { ...sole, trouble: 'it is down' } : sole);
    expect(fixture.access.nodeFor({ plugin: 'disk' }) ?? 'a').not.to.equal(first);
  });
});
