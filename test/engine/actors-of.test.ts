/** ActorsOf: typed access to the actors of one machine. */
import { expect } from 'chai';
import { nodeMachine } from '../../machines/node/node.js';
import type { CommitNotice } from '../../src/engine/actor/actor-ports.js';
import type { ActorView } from '../../src/engine/actor-system.js';
import { ActorsOf, type CommitOf } from '../../src/engine/actors-of.js';
import { actorSystem } from '../support/actor-system.js';

const view: ActorView = { seq: 1, state: 'ready', context: { id: 'a', plugins: [] } };

describe('the actors of one machine', () => {
  it("address of another machine: TypeError, as that is a programmer's mistake", () => {
    const nodes = new ActorsOf(actorSystem({ peek: () => view }), nodeMachine);
    expect(nodes.peek('node/a')?.context.id).to.equal('a');
    expect(() => nodes.peek('volume/default/data')).to.throw(TypeError, "not an actor of 'node'");
  });

  it('all() lists page after page, and only actors of this machine', async () => {
    const asked: unknown[] = [];
    const engine = actorSystem({
      page: async (range) => {
        asked.push(range);
        return range.after === undefined ? { rows: [['node/a', view]], next: 'node/a' } : { rows: [['node/b', view]] };
      },
    });
    const found: string[] = [];
    for await (const [address] of new ActorsOf(engine, nodeMachine).all()) found.push(address);
    expect(found).to.deep.equal(['node/a', 'node/b']);
    expect(asked).to.deep.equal([
      { prefix: 'node/', limit: 512 },
      { prefix: 'node/', limit: 512, after: 'node/a' },
    ]);
  });

  it('commits of other machines are not observed; the commit of a deleted actor has no view', () => {
    let emit: (notice: CommitNotice) => void = () => {};
    const engine = actorSystem({
      observe: (observer) => {
        emit = observer;
        return () => {};
      },
    });
    const seen: CommitOf<typeof nodeMachine>[] = [];
    new ActorsOf(engine, nodeMachine).observe((commit) => seen.push(commit));
    const notice = { seq: 1, machine: 'node', entry: { seq: 1 } } as CommitNotice;
    emit({ ...notice, address: 'volume/default/data', state: 'created', context: {} });
    const events = [{ topic: 'nodes', event: { type: 'reported' } }];
    emit({ ...notice, address: 'node/a', state: view.state, context: view.context, events });
    emit({ ...notice, address: 'node/a', state: undefined, context: undefined });
    expect(seen.map(({ address, events }) => ({ address, events }))).to.deep.equal([
      { address: 'node/a', events },
      { address: 'node/a', events: [] },
    ]);
    expect(seen[0]?.view).to.include(view);
    expect(seen[1]?.view).to.equal(undefined);
  });
});
