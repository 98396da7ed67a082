/** Signed messages and entries, over wires in memory. */
import { expect } from 'chai';
import { decodeMessage, encodeMessage } from '../../src/cluster/messages.js';
import { sealedWire } from '../../src/cluster/sealed-wire.js';
import type { Wire } from '../../src/engine/store.js';
import { seededRandom } from '../../src/testing/seeded-random.js';
import { type SimulatedClock, simulatedClock } from '../../src/testing/simulated-clock.js';
import { MemoryWires } from '../support/memory-wire.js';
import { wireSuite } from './wire-suite.js';

const key = 'k'.repeat(32);

wireSuite('signed', async () => {
  const clock = simulatedClock();
  const wires = new MemoryWires({ clock, random: seededRandom(1) });
  return {
    wire: async () => sealedWire(wires.wire(), key),
    elapse: (ms) => clock.advance(ms),
    nowMs: () => clock.monotonicMs(),
    until: async (_, isSo) => {
      while (!(await isSo())) await clock.advance(1);
    },
    flush: async () => wires.flush(),
    dispose: async () => {},
  };
});

describe('signed messages', () => {
  let clock: SimulatedClock;
  let plain: Wire;
  let signed: Wire;
  let refused: string[];
  let heard: string[];

  beforeEach(async () => {
    clock = simulatedClock();
    const wires = new MemoryWires({ clock, random: seededRandom(1) });
    plain = wires.wire();
    refused = [];
    heard = [];
    signed = sealedWire(plain, key, (outcome) => refused.push(outcome));
    await signed.listen('a', (text) => heard.push(text), new AbortController().signal);
  });

  /** Returns what the sender puts into inbox b, as it lies there. */
  async function written(text: string, sender = signed): Promise<string> {
    const found: string[] = [];
    const stop = new AbortController();
    await plain.listen('b', (sealed) => found.push(sealed), stop.signal);
    await sender.post('b', text);
    await clock.advance(10);
    stop.abort();
    return found.join();
  }

  it('D11 a text with the same key is heard as it was sent, whatever is in it', async () => {
    const texts = ['', '{"a":"ü€😀"}', 'signed 1 ', '\0\n'];
    for (const text of texts) await sealedWire(plain, Buffer.from(key)).post('a', text);
    await clock.advance(10);
    expect(heard).to.deep.equal(texts);
    expect(refused).to.deep.equal([]);
  });

  it('D11 unsigned, changed, redirected and otherwise signed texts are refused and counted', async () => {
    const forB = await written('text');
    const other = sealedWire(plain, 'x'.repeat(32));
    const forged = ['text', '', 'signed 1 ', `signed 1 ${'A'.repeat(43)}text`, forB, `${forB} and more`];
    for (const text of forged) await plain.post('a', text);
    await other.post('a', 'text');
    await clock.advance(10);
    expect(heard).to.deep.equal([]);
    expect(refused).to.deep.equal(Array.from({ length: forged.length + 1 }, () => 'unsigned'));
  });

  it('D11 a text that is too large is refused, signed or not', async () => {
    await signed.post('a', 'x'.repeat(2 ** 20 + 1));
    await clock.advance(10);
    expect(heard).to.deep.equal([]);
    expect(refused).to.deep.equal(['too-large']);
  });

  it('D11 an agent without the key can not read a signed message, and counts another format', async () => {
    const message = encodeMessage({ type: 'moved', id: 'a:1' });
    expect(decodeMessage(message)).to.have.property('type', 'moved');
    expect(decodeMessage(await written(message))).to.equal('newer');
  });

  it('D11 an entry that is not signed for its node and run counts as that of a node that has left', async () => {
    const beat = { nodeId: 'n', run: '1', awayAfterMs: 6_000 };
    await signed.beat({ ...beat, entry: 'e' });
    const { version, changed } = await signed.roster(0);
    expect(changed).to.deep.equal([{ nodeId: 'n', run: '1', entry: 'e' }]);
    const [{ entry: sealed = '' } = {}] = (await plain.roster(0)).changed;
    await plain.beat({ ...beat, run: '2', entry: sealed });
    expect((await signed.roster(version)).changed).to.deep.equal([{ nodeId: 'n', run: '2' }]);
    expect((await signed.roster(0)).changed).to.deep.equal([]);
    expect(refused).to.deep.equal(['unsigned', 'unsigned']);
  });
});
