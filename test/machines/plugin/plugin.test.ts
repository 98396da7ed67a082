/** The machine of one plugin instance under plain XState, its fingerprint loop played by the test. */
import { expect } from 'chai';
import { type Actor, createActor, fromCallback, type Snapshot } from 'xstate';
import {
  type Fingerprint,
  type FingerprintInput,
  type HealthChanged,
  type NodeInfo,
  type NodeInfoChanged,
  type PluginBasics,
  type PluginInfo,
  pluginMachine,
} from '../../../machines/plugin/plugin.js';
import { anyStamp } from '../stamped.js';

const info: PluginInfo = {
  type: 'csi-node',
  name: 'ebs',
  allocId: 'a1',
  connection: { socketPath: '/run/ebs/csi.sock' },
};
const moved: PluginInfo = { ...info, version: '2', connection: { socketPath: '/run/other/csi.sock' } };
const basic: PluginBasics = {
  pluginName: 'ebs.csi.aws.com',
  vendorVersion: '1.2.3',
  nodeId: 'i-1',
  pluginCapabilities: ['CONTROLLER_SERVICE'],
};
const good: Fingerprint = { healthy: true, description: 'ready', basic, capabilities: ['STAGE_UNSTAGE_VOLUME'] };
const bad: Fingerprint = { healthy: false, description: 'no socket' };

interface Loop {
  input: FingerprintInput;
  send(event: { type: 'fingerprint.changed'; fingerprint: Fingerprint }): void;
  stopped: boolean;
}

/** A started machine, its loops and what it has emitted. */
class Scene {
  readonly loops: Loop[] = [];
  readonly emitted: (HealthChanged | NodeInfoChanged)[] = [];
  readonly actor: Actor<typeof pluginMachine>;

  /** @param stored begins from there, not anew */
  constructor(stored?: Snapshot<unknown>) {
    const fingerprintLoop = fromCallback<Parameters<Loop['send']>[0], FingerprintInput>(({ input, sendBack }) => {
      const loop: Loop = { input, send: sendBack, stopped: false };
      this.loops.push(loop);
      return () => {
        loop.stopped = true;
      };
    });
    const machine = pluginMachine.provide({ actors: { fingerprintLoop } });
    this.actor = createActor(machine, stored ? { snapshot: stored, input: { info } } : { input: { info } });
    this.actor.on('*', (event) => this.emitted.push(event));
    this.actor.start();
  }

  get state(): string {
    return this.actor.getSnapshot().value;
  }

  get fingerprint(): Fingerprint {
    return this.actor.getSnapshot().context.fingerprint;
  }

  /** Each change of health in short. */
  get health(): string[] {
    return this.emitted.flatMap((event) =>
      event.type === 'health' ? `${event.from} → ${event.healthy}: ${event.description}` : [],
    );
  }

  /** What was told of the node, each with what was before, if anything. */
  get nodes(): NodeInfo[][] {
    return this.emitted.flatMap((event) => {
      if (event.type === 'health') return [];
      const { type: _, info: __, before, ...node } = event;
      return [before ? [node, before] : [node]];
    });
  }

  seen(...fingerprints: Fingerprint[]): this {
    for (const fingerprint of fingerprints) this.loops.at(-1)?.send({ type: 'fingerprint.changed', fingerprint });
    return this;
  }

  restart(definition: PluginInfo): this {
    this.actor.send({ type: 'plugin.restart', info: definition, ...anyStamp });
    return this;
  }

  lost(description: string): this {
    this.actor.send({ type: 'plugin.lost', description, ...anyStamp });
    return this;
  }

  shutdown(): this {
    this.actor.send({ type: 'plugin.shutdown', ...anyStamp });
    return this;
  }
}

describe('plugin machine', () => {
  it('I1 begun, it fingerprints at once, one loop for the instance, and is not healthy yet', () => {
    const scene = new Scene();
    expect(scene.state).to.equal('fingerprinting');
    expect(scene.loops.map(({ input }) => input)).to.deep.equal([{ info }]);
    expect(scene.fingerprint).to.deep.equal({ healthy: false, description: 'not yet fingerprinted' });
    expect(scene.emitted).to.deep.equal([]);
  });

  describe('transitions: first rounds, then where they lead, and what is told', () => {
    const again: Fingerprint = { ...good, description: 'still ready' };
    const worse: Fingerprint = { ...bad, description: 'worse' };
    const table: [title: string, rounds: Fingerprint[], state: string, health: string[]][] = [
      ['I1 a good first round: healthy', [good], 'healthy', ['unknown → true: ready']],
      ['I3 a bad first round: unhealthy', [bad], 'unhealthy', ['unknown → false: no socket']],
      ['I9 good twice: told once', [good, again], 'healthy', ['unknown → true: ready']],
      ['I9 bad twice: told once', [bad, worse], 'unhealthy', ['unknown → false: no socket']],
      [
        'I9 good, bad: both told, the old state beside the new',
        [good, bad],
        'unhealthy',
        ['unknown → true: ready', 'healthy → false: no socket'],
      ],
      ['I9 bad, good: both told', [bad, good], 'healthy', ['unknown → false: no socket', 'unhealthy → true: ready']],
      [
        'I9 good, bad, worse, good, again: three changes told',
        [good, bad, worse, good, again],
        'healthy',
        ['unknown → true: ready', 'healthy → false: no socket', 'unhealthy → true: ready'],
      ],
    ];
    for (const [title, rounds, state, health] of table) {
      it(title, () => {
        const scene = new Scene().seen(...rounds);
        expect(scene.state).to.equal(state);
        expect(scene.health).to.deep.equal(health);
        expect(scene.fingerprint.description).to.equal(rounds.at(-1)?.description);
        expect(scene.loops, 'the loop goes on').to.have.lengthOf(1);
        expect(scene.loops[0]?.stopped).to.equal(false);
      });
    }
  });

  it('I9 a health event names the instance whole', () => {
    const scene = new Scene().seen(good);
    expect(scene.emitted.at(-1)).to.deep.equal({
      type: 'health',
      info,
      from: 'unknown',
      healthy: true,
      description: 'ready',
    });
  });

  describe('what is told of the node', () => {
    const on = (node: NodeInfo): Fingerprint => ({
      ...good,
      basic: { pluginName: 'ebs.csi.aws.com', vendorVersion: '1', ...node },
    });
    const failing = (node: NodeInfo): Fingerprint => ({ ...on(node), ...bad });
    const nameless = { ...bad, basic: { pluginName: 'ebs.csi.aws.com', vendorVersion: '2' } };
    const healthyOnly: Fingerprint = { healthy: true, description: 'ready' };
    const rest = ({ nodeId: _, ...others }: NodeInfo): NodeInfo => others;
    const first: NodeInfo = { nodeId: 'i-1', topology: { zone: 'a' }, maxVolumes: 5 };

    it('I8 the first look that knows: told once, whole, without what was before, and before its health', () => {
      const scene = new Scene().seen(on(first), on(first), bad, on(first));
      expect(scene.emitted.slice(0, 2)).to.deep.equal([
        { type: 'node-info', info, ...first },
        { type: 'health', info, from: 'unknown', healthy: true, description: 'ready' },
      ]);
      expect(scene.nodes).to.have.lengthOf(1);
    });

    for (const [title, next] of [
      ['another node id', { ...first, nodeId: 'i-2' }],
      ['another topology', { ...first, topology: { zone: 'b' } }],
      ['a further segment', { ...first, topology: { zone: 'a', rack: '1' } }],
      ['no topology any more', { nodeId: 'i-1', maxVolumes: 5 }],
      ['another limit', { ...first, maxVolumes: 6 }],
      ['no limit any more', { nodeId: 'i-1', topology: { zone: 'a' } }],
    ] satisfies [string, NodeInfo][]) {
      for (const [how, rounds] of [
        ['healthy all the time', [on(first), on(next)]],
        ['healthy again after it was not', [on(first), bad, on(next)]],
        ['no longer healthy', [on(first), failing(next)]],
        ['still not healthy', [failing(first), failing(next)]],
      ] satisfies [string, Fingerprint[]][]) {
        it(`I8 ${title}, ${how}: told, with what was before`, () => {
          const scene = new Scene().seen(...rounds);
          expect(scene.nodes).to.deep.equal([[first], [next, first]]);
          const { topology, maxVolumes } = scene.fingerprint.basic ?? {};
          expect({ topology, maxVolumes }).to.deep.equal({ topology: undefined, maxVolumes: undefined, ...rest(next) });
        });
      }
    }

    it('I8 told with the change of health of the same look, before it', () => {
      const next = { ...first, nodeId: 'i-2' };
      const { emitted } = new Scene().seen(on(first), failing(next));
      expect(emitted.slice(2).map(({ type }) => type)).to.deep.equal(['node-info', 'health']);
    });

    it('I8 another vendor version on the same node, or its segments in another order: nothing is told', () => {
      const node = { nodeId: 'i-1', topology: { zone: 'a', rack: '1' } };
      const turned = { topology: { rack: '1', zone: 'a' }, nodeId: 'i-1', vendorVersion: '2' };
      expect(new Scene().seen(on(node), on(turned)).nodes).to.deep.equal([[node]]);
    });

    it('I8 looks that do not come as far as the node tell nothing of it', () => {
      expect(new Scene().seen(bad, nameless).nodes).to.deep.equal([]);
      expect(new Scene().seen(on(first), nameless, bad).nodes).to.deep.equal([[first]]);
    });

    it('I8 an empty node id is a fault, and told as no node', () => {
      const scene = new Scene().seen(on(first), failing({ nodeId: '' }), on({ nodeId: 'i-2' }));
      expect(scene.nodes).to.deep.equal([[first], [{ nodeId: 'i-2' }, first]]);
    });

    it('I8 a plugin that knows of no node: nothing is told', () => {
      expect(new Scene().seen(on({}), healthyOnly, bad, on({})).nodes).to.deep.equal([]);
    });

    it('I8 a plugin that has left its node: told as what is none, with what was before', () => {
      expect(new Scene().seen(on(first), on({}), on({})).nodes).to.deep.equal([[first], [{}, first]]);
    });

    it('I8 restarted on the same node: nothing is told; on another one: told with what was before', () => {
      const scene = new Scene().seen(on(first)).restart(moved).seen(nameless, on(first));
      expect(scene.nodes).to.deep.equal([[first]]);
      scene.restart(info).seen(bad, healthyOnly, on({ nodeId: 'i-2' }));
      expect(scene.nodes).to.deep.equal([[first], [{ nodeId: 'i-2' }, first]]);
    });

    it('I8 shut down: nothing is told of the node', () => {
      expect(new Scene().seen(on(first)).shutdown().nodes).to.deep.equal([[first]]);
    });

    it('I8 a record from before this was told: told at the next look, without what was before', () => {
      const { actor } = new Scene().seen(on(first));
      const text = JSON.stringify(actor.getPersistedSnapshot());
      expect(text).to.include('"node":');
      const before = JSON.parse(text, (key, value) => (key === 'node' ? undefined : value));
      expect(new Scene(before).seen(on(first)).nodes).to.deep.equal([[first]]);
    });
  });

  describe('what stays known', () => {
    it('I6 an unhealthy round keeps the capabilities and the basic information that it could not read', () => {
      const { fingerprint } = new Scene().seen(good, bad);
      expect(fingerprint).to.deep.equal({ ...good, ...bad });
    });

    it('I6 capabilities that were never read stay unknown, and are no empty list', () => {
      expect(new Scene().seen(bad).fingerprint).to.deep.equal(bad);
      expect(new Scene().seen({ ...bad, basic }, bad).fingerprint).to.not.have.property('capabilities');
    });

    it('I6 an empty list is what the plugin said, and takes the place of what was known', () => {
      expect(new Scene().seen(good, { ...good, capabilities: [] }).fingerprint.capabilities).to.deep.equal([]);
    });

    it('I3 a round that failed midway adds what it has read to what is known', () => {
      const name = { pluginName: 'ebs.csi.aws.com', vendorVersion: '1.2.4' };
      const { fingerprint } = new Scene().seen(good, { ...bad, basic: name });
      expect(fingerprint.basic).to.deep.equal({ ...basic, ...name });
    });

    it('I8 a good round that read the basic information again replaces all of it', () => {
      const fresh: PluginBasics = { pluginName: 'ebs.csi.aws.com', vendorVersion: '2.0.0', nodeId: 'i-2' };
      expect(new Scene().seen(good, { ...good, basic: fresh }).fingerprint.basic).to.deep.equal(fresh);
    });
  });

  describe('restart', () => {
    for (const [title, rounds] of [
      ['while fingerprinting', []],
      ['while healthy', [good]],
      ['while unhealthy', [bad]],
      ['while unhealthy after it was healthy', [good, bad]],
    ] satisfies [string, Fingerprint[]][]) {
      it(`R4 restarted ${title}: a new loop begins on the new definition, and knows nothing of the old one`, () => {
        const scene = new Scene().seen(...rounds);
        const told = scene.emitted.length;
        scene.restart(moved);
        expect(scene.state).to.equal('fingerprinting');
        expect(scene.loops.map(({ stopped }) => stopped)).to.deep.equal([true, false]);
        expect(scene.loops[1]?.input).to.deep.equal({ info: moved });
        expect(scene.actor.getSnapshot().context).to.deep.include({
          info: moved,
          fingerprint: { healthy: false, description: 'not yet fingerprinted' },
          ...(rounds[0]?.healthy && { node: { nodeId: 'i-1' } }), // told, hence kept
        });
        scene.seen(good);
        expect(scene.emitted.slice(told).filter(({ type }) => type === 'health')).to.deep.equal([
          { type: 'health', info: moved, from: 'unknown', healthy: true, description: 'ready' },
        ]);
      });
    }

    it('R4 restarted twice: the last definition counts, one loop runs', () => {
      const scene = new Scene().restart(moved).restart(info).seen(good);
      expect(scene.loops.map(({ stopped }) => stopped)).to.deep.equal([true, true, false]);
      expect(scene.actor.getSnapshot().context).to.deep.include({ info, fingerprint: good });
    });
  });

  describe('whose process is lost', () => {
    for (const [title, rounds, told] of [
      ['while fingerprinting', [], ['unknown → false: it was killed']],
      ['while healthy', [good], ['healthy → false: it was killed']],
      ['while unhealthy', [bad], []],
    ] satisfies [string, Fingerprint[], string[]][]) {
      it(`T6 ${title}: unhealthy at once, with that reason, and what was known stays known`, () => {
        const scene = new Scene().seen(...rounds);
        const before = scene.health.length;
        const { basic: known } = scene.fingerprint;
        scene.lost('it was killed');
        expect(scene.state).to.equal('unhealthy');
        expect(scene.health.slice(before)).to.deep.equal(told);
        expect(scene.fingerprint).to.deep.include({ healthy: false, description: 'it was killed' });
        expect(scene.fingerprint.basic).to.deep.equal(known);
        expect(scene.loops).to.have.lengthOf(1);
      });
    }

    it('T6 it answers all the same: healthy again', () => {
      const scene = new Scene().seen(good).lost('it hangs').seen(good);
      expect([scene.state, scene.health.at(-1)]).to.deep.equal(['healthy', 'unhealthy → true: ready']);
    });

    it('T6 after it was shut down: nothing', () => {
      const scene = new Scene().seen(good);
      scene.shutdown();
      const { length } = scene.health;
      scene.lost('it was killed');
      expect([scene.state, scene.health.length]).to.deep.equal(['shutdown', length]);
    });
  });

  describe('shutdown', () => {
    for (const [title, rounds, told] of [
      ['while fingerprinting: ends, with no health to take back', [], []],
      ['while healthy: ends with a last unhealthy report', [good], ['healthy → false: shut down']],
      ['while unhealthy: ends, with no change to tell', [bad], []],
      ['while unhealthy after healthy: ends, with no change to tell', [good, bad], []],
    ] satisfies [string, Fingerprint[], string[]][]) {
      it(`I11 shut down ${title}`, () => {
        const scene = new Scene().seen(...rounds);
        const before = scene.health.length;
        scene.shutdown();
        expect(scene.state).to.equal('shutdown');
        expect(scene.actor.getSnapshot().status).to.equal('done');
        expect(scene.health.slice(before)).to.deep.equal(told);
        expect(scene.loops.map(({ stopped }) => stopped)).to.deep.equal([true]);
        expect(scene.fingerprint).to.include({ healthy: false, description: 'shut down' });
      });
    }

    for (const [title, rounds, later, told] of [
      ['told as healthy before: takes it back', [good], [], ['healthy → false: shut down']],
      ['told as unhealthy before: nothing to take back', [bad], [], []],
      ['seen unhealthy since: nothing to take back', [good], [bad], []],
    ] satisfies [string, Fingerprint[], Fingerprint[], string[]][]) {
      it(`I11 shut down after it was defined anew, ${title}`, () => {
        const scene = new Scene()
          .seen(...rounds)
          .restart(moved)
          .restart(info)
          .seen(...later);
        const before = scene.health.length;
        scene.shutdown();
        expect(scene.health.slice(before)).to.deep.equal(told);
      });
    }

    it('I11 shut down: the last report keeps what was known', () => {
      const { fingerprint } = new Scene().seen(good).shutdown();
      expect(fingerprint).to.include({ capabilities: good.capabilities, basic });
    });

    it('I11 shut down: a round that comes after it changes nothing', () => {
      const scene = new Scene().seen(good).shutdown();
      const told = [...scene.emitted];
      scene.seen(good, bad);
      expect(scene.state).to.equal('shutdown');
      expect(scene.emitted).to.deep.equal(told);
      expect(scene.loops).to.have.lengthOf(1);
    });
  });
});
