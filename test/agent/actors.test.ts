/** Actors over the API: everything about one, and all at a glance. */
import { expect } from 'chai';
import type { ActorDetail, Overview } from '../../src/api/actor-routes.js';
import { overviewOf } from '../../src/inspector/actor-answers.js';
import { answerOf } from '../scenarios/agent-process.js';
import { askAgent } from '../support/ask-agent.js';
import { spec } from '../volumes/volume-house.js';
import { ApiHouse } from './api-house.js';

describe('actors over the API', () => {
  let api: ApiHouse;

  beforeEach(async () => {
    api = await new ApiHouse().open();
  });
  afterEach(() => api.dispose());

  const detailOf = (address: string): Promise<ActorDetail> =>
    askAgent(api.socketPath, 'GET', `/v1/actors/${encodeURIComponent(address)}`) as Promise<ActorDetail>;
  const overview = (): Promise<Overview> => askAgent(api.socketPath, 'GET', '/v1/overview') as Promise<Overview>;
  const rowOf = ({ actors }: Overview, address: string): object => {
    const at = actors.address.indexOf(address);
    return { state: actors.state[at], health: actors.health[at], why: actors.why[at] };
  };

  const address = 'volume/default/data';

  /** Creates a volume, and has it published while the plugin refuses or fails. */
  async function publishing(code: 'INTERNAL' | 'INVALID_ARGUMENT'): Promise<void> {
    api.house.plugin.script = ({ rpc }) => (rpc === 'ControllerPublishVolume' ? { code, text: 'no luck' } : undefined);
    await api.create('data');
    api.house.runtime.volumes.publish({ id: 'data' }, 'a').catch(() => {});
    await api.house.rest();
  }

  it('X2 a call that failed in doubt: its part, the next attempt, and that it goes on by itself', async () => {
    await publishing('INTERNAL');
    const detail = await detailOf(address);
    expect(detail).to.include({ machine: 'volume', state: 'pending-publish.backing-off', health: 'in-doubt' });
    expect(detail.why).to.contain('on a: publish in doubt');
    expect(detail.parts.map(({ id }) => id)).to.include('publication/a');
    expect(detail.timers).to.have.length(1);
    expect(detail.nextDueAtMs).to.be.a('number');
    expect(detail.waits[0]?.what).to.contain('no luck');
    expect(detail.trouble[0]).to.include({ needs: 'nothing', address });
    const seen = await overview();
    expect(rowOf(seen, address)).to.include({ health: 'in-doubt' });
    expect(seen.trouble.map(({ address: one }) => one)).to.include(address);
  });

  it('X2 a refused call needs a person: with what to do, and a command', async () => {
    await publishing('INVALID_ARGUMENT');
    const { health, trouble, effects } = await detailOf(address);
    expect(health).to.equal('failed');
    expect(effects).to.deep.equal([]);
    expect(trouble[0]).to.include({ needs: 'a-person', command: 'stagecraft volume retry data' });
    const [first] = (await overview()).trouble;
    expect(first).to.include({ address, needs: 'a-person' });
  });

  it('X2 a call under way: its name, and when its request went out', async () => {
    let answer: () => void = () => {};
    const before = new Promise<void>((resolve) => {
      answer = resolve;
    });
    api.house.plugin.script = ({ rpc }) => (rpc === 'CreateVolume' ? { before } : undefined);
    const creating = api.house.runtime.volumes.create(spec('data'));
    await api.house.rest();
    const { health, effects } = await detailOf(address);
    expect(health).to.equal('working');
    expect(effects.map(({ rpc }) => rpc)).to.deep.equal(['CreateVolume']);
    expect(effects[0]?.sentAtMs).to.be.a('number');
    answer();
    await creating;
  });

  it('X3 lists the events that a volume takes from callers, and none that only its own effects send', async () => {
    await publishing('INTERNAL');
    const { accepts } = await detailOf(address);
    expect(accepts).to.include.members(['volume.retry', 'volume.unpublish', 'volume.delete']);
    expect(accepts.filter((type) => !type.startsWith('volume.'))).to.deep.equal([]);
  });

  it('X2 a volume at rest, which is in no memory, is seen all the same', async () => {
    api.house.plugin.script = () => undefined;
    await api.create('data');
    expect(rowOf(await overview(), address)).to.deep.equal({
      state: 'created',
      health: 'healthy',
      why: 'not published',
    });
    expect(await detailOf(address)).to.include({ health: 'healthy', unread: 0 });
  });

  it('X2 the moment of the last step is known of actors that nobody has looked at, also after a restart', async () => {
    await api.create('data');
    const last = (await api.house.runtime.journal.range(address)).last;
    const moments: number[] = [];
    for await (const { at } of api.house.runtime.journal.entries(address, { from: last })) moments.push(at);
    await api.house.restart();
    const { actors } = await overviewOf(api.house.runtime, { version: '0', at: 0 });
    expect([actors.at[actors.address.indexOf(address)]]).to.deep.equal(moments);
  });

  it('an actor that never was: ACTOR_NOT_FOUND', async () => {
    expect(
      await answerOf(api.socketPath, 'GET', `/v1/actors/${encodeURIComponent('volume/default/other')}`),
    ).to.include({
      code: 'ACTOR_NOT_FOUND',
    });
    expect(await answerOf(api.socketPath, 'GET', '/v1/actors/stranger')).to.include({ code: 'ACTOR_NOT_FOUND' });
  });
});
