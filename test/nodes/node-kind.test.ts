/** Requests to a node that are refused without a commit, beside the answers of its machine. */
import { expect } from 'chai';
import { nodeAddress } from '../../machines/kit/addresses.js';
import type { NodeEvent } from '../../machines/node/node.js';
import type { Engine } from '../../src/engine/engine.js';
import { nodeKind } from '../../src/nodes/node-kind.js';
import { Lab } from '../engine/lab.js';
import { refusalOf } from '../refusal.js';

const plugin = 'disk';
const reserve = (volume: string): NodeEvent => ({ type: 'node.reserve-slot', plugin, volume, reservation: volume });

describe('a node that is asked for a slot', () => {
  let lab: Lab;
  let engine: Engine;
  beforeEach(async () => {
    lab = new Lab();
    const fence = { withdraw: async () => {}, release: async () => [] };
    ({ engine } = await lab.start([nodeKind({ clock: lab.clock, fence })]));
    await ask({ type: 'node.report', plugins: [{ name: plugin, nodeId: 'csi-a', maxVolumes: 1 }] });
    await ask({ type: 'node.slots-counted', plugin, number: 0 });
    await ask(reserve('one'));
  });

  async function ask(event: NodeEvent): Promise<unknown> {
    const asked = engine.ask(nodeAddress('a'), event);
    asked.catch(() => {});
    await lab.rest();
    return asked;
  }
  const codeOf = async (event: NodeEvent): Promise<string> => (await refusalOf(ask(event))).code;

  it('V18, 35.8 full, and ready: refused as full, without a commit', async () => {
    const before = engine.peek(nodeAddress('a'))?.seq;
    expect(await codeOf(reserve('two'))).to.equal('NODE_FULL');
    expect(engine.peek(nodeAddress('a'))?.seq).to.equal(before);
  });

  for (const [state, event, code] of [
    ['down', { type: 'node.down' }, 'NODE_NOT_READY'],
    ['down, and fenced', { type: 'node.fence', reason: 'gone' }, 'NODE_NOT_READY'],
    ['taken out', { type: 'node.remove' }, 'NODE_NOT_FOUND'],
  ] as const) {
    it(`V18, N3, 35.8 full, and ${state}: refused for its state, as its machine does`, async () => {
      await ask(event);
      expect(await codeOf(reserve('two'))).to.equal(code);
    });
  }
});
