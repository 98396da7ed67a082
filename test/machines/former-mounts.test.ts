/** Which mounts are an earlier agent's, as the root actor of a node keeps them. */
import { expect } from 'chai';
import { type AgentPlace, placed } from '../../machines/registry/registry.js';

describe('the place of the agent of a node', () => {
  const at = (id: string): AgentPlace => ({ id, dataDir: `/${id}`, host: 'h' });
  const [web, db] = ['mount/a/default/web', 'mount/a/default/db'];

  it('34.32 noted for the first time, as by an agent that was updated: all mounts are its own', () => {
    expect(placed({}, { place: at('x'), mounts: [web] }, 1)).to.deep.equal({ place: at('x') });
  });

  it('34.32 the same place again: all mounts are its own', () => {
    expect(placed({ place: at('x') }, { place: at('x'), mounts: [web] }, 2)).to.deep.equal({ place: at('x') });
  });

  it('34.32 another place: what is mounted is of the place before, since now', () => {
    const former = { [web]: { ...at('x'), replacedAtMs: 3 } };
    expect(placed({ place: at('x') }, { place: at('y'), mounts: [web] }, 3)).to.deep.equal({ place: at('y'), former });
    // It is placed again after a crash.
    expect(placed({ place: at('y'), former }, { place: at('y'), mounts: [web, db] }, 4).former).to.deep.equal(former);
  });

  it('34.32 a third place: each mount is of the place that has made it', () => {
    const former = { [web]: { ...at('x'), replacedAtMs: 3 } };
    const { former: now } = placed({ place: at('y'), former }, { place: at('z'), mounts: [web, db] }, 5);
    expect(now).to.deep.equal({ ...former, [db]: { ...at('y'), replacedAtMs: 5 } });
  });

  it('34.32 back at the first place: its mounts are its own again, those of the second are not', () => {
    const former = { [web]: { ...at('x'), replacedAtMs: 3 } };
    const { former: now } = placed({ place: at('y'), former }, { place: at('x'), mounts: [web, db] }, 6);
    expect(now).to.deep.equal({ [db]: { ...at('y'), replacedAtMs: 6 } });
  });

  it('34.32 a mount without a record is nobody’s any more', () => {
    const former = { [web]: { ...at('x'), replacedAtMs: 3 } };
    expect(placed({ place: at('y'), former }, { place: at('y'), mounts: [] }, 7).former).to.deep.equal({});
  });
});
