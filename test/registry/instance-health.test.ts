/** T5: the health of a plugin's instances, taken together, as whoever runs it is told. */
import { expect } from 'chai';
import { pluginAddress } from '../../machines/kit/addresses.js';
import type { TaskHealth } from '../../machines/task/task-types.js';
import type { ActorView } from '../../src/engine/actor-system.js';
import type { Engine } from '../../src/engine/engine.js';
import { InstanceHealth } from '../../src/registry/instance-health.js';

const instances = [
  { type: 'csi-controller', name: 'ebs', allocId: 'a1' },
  { type: 'csi-node', name: 'ebs', allocId: 'a1' },
];
const [controller, node] = instances.map(({ type, name, allocId }) => pluginAddress('n1', type, name, allocId)) as [
  string,
  string,
];

/** What an engine shows and says, played by the test. */
class Stage {
  readonly views = new Map<string, ActorView>();
  readonly told: TaskHealth[] = [];
  readonly end = new AbortController();
  looks = 0;
  #tell: (address: string) => void = () => {};

  constructor({ wereThere = false } = {}) {
    const engine: Pick<Engine, 'observe' | 'peek'> = {
      observe: (observer) => {
        this.#tell = (address) =>
          observer({ address, entry: { event: { type: 'seen' } } } as Parameters<typeof observer>[0]);
        return () => {};
      },
      peek: (address) => {
        this.looks += 1;
        return this.views.get(address);
      },
    };
    new InstanceHealth({ node: 'n1', engine: engine as Engine }).watch(
      instances,
      { signal: this.end.signal, wereThere },
      (health) => this.told.push(health),
    );
  }

  is(address: string, state: string | undefined, description = 'ready'): this {
    if (state === undefined) this.views.delete(address);
    else this.views.set(address, { seq: 1, state, context: { fingerprint: { description } } });
    this.#tell(address);
    return this;
  }
}

describe('the health of instances taken together', () => {
  it('T5 told once every one was looked at: healthy if all are, else with what the first says that is not', () => {
    const stage = new Stage().is(controller, 'healthy').is(node, 'fingerprinting');
    expect(stage.told).to.deep.equal([]);
    stage.is(node, 'healthy').is(node, 'unhealthy', 'no answer').is(controller, 'unhealthy', 'stale socket');
    expect(stage.told).to.deep.equal([
      { healthy: true, description: 'ready' },
      { healthy: false, description: 'no answer' },
      { healthy: false, description: 'stale socket' },
    ]);
  });

  it('T5 one that is unhealthy tells, whatever is known of the other', () => {
    const stage = new Stage().is(controller, 'fingerprinting').is(node, 'unhealthy', 'no answer');
    expect(stage.told).to.deep.equal([{ healthy: false, description: 'no answer' }]);
  });

  it('T5 the same again is not told', () => {
    const stage = new Stage()
      .is(controller, 'healthy')
      .is(node, 'healthy')
      .is(node, 'healthy')
      .is(controller, 'healthy');
    expect(stage.told).to.have.lengthOf(1);
  });

  it('T5 deregistered by somebody else: told as such; not begun yet: not told', () => {
    expect(new Stage().told).to.deep.equal([]);
    const gone = { healthy: false, description: 'its plugin is not registered any more' };
    const stage = new Stage().is(controller, 'healthy').is(node, 'healthy').is(node, undefined);
    expect(stage.told.at(-1)).to.deep.equal(gone);
    expect(new Stage({ wereThere: true }).told, 'while no runtime ran').to.deep.equal([gone]);
  });

  it('T8 ended, it looks no more', () => {
    const stage = new Stage().is(controller, 'healthy').is(node, 'healthy');
    stage.end.abort();
    const { looks } = stage;
    stage.is(node, 'unhealthy').is(controller, 'unhealthy');
    expect([stage.looks, stage.told.length]).to.deep.equal([looks, 1]);
  });
});
