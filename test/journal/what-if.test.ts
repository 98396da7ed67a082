/** Other courses of events: entries of a journal left out, changed or inserted; the live actor stays as it is. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { AnyEventObject } from 'xstate';
import type { GrpcCode } from '../../src/csi/grpc-codes.js';
import type { JournalEntry } from '../../src/engine/actor/actor-record.js';
import type { Moment } from '../../src/engine/machine/replay.js';
import { type Edit, OtherCourse } from '../../src/journal/what-if.js';
import { refusalOf } from '../refusal.js';
import { spec, VolumeHouse } from '../volumes/volume-house.js';

const address = 'volume/default/data';

async function listed<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

describe('what-if', () => {
  let house: VolumeHouse;

  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
  });

  afterEach(() => house.dispose());

  /** Creates and publishes a volume, with these answers before each OK, and restarts the runtime where asked. */
  async function lived(failures: readonly GrpcCode[], restarts = false): Promise<void> {
    const left = [...failures];
    house.plugin.script = ({ rpc }) => {
      const code = rpc === 'ControllerPublishVolume' ? left.shift() : undefined;
      return code === undefined ? undefined : { code };
    };
    const creating = house.volumes.create(spec('data'));
    await house.rest();
    await creating;
    house.volumes.publish({ id: 'data' }, 'a').catch(() => {});
    await house.rest();
    if (restarts) {
      await house.restart();
      await house.register();
    }
    await house.clock.advance(60_000);
  }

  const entries = (): AsyncIterable<JournalEntry> => house.runtime.journal.entries(address);

  async function course(edits: Edit[]): Promise<{ moments: Moment[]; other: Moment[]; end: OtherCourse['endedAt'] }> {
    const other = new OtherCourse(address, edits);
    const moments = await listed(other.moments(entries()));
    return { moments, other: moments.filter(({ seq }) => seq >= other.firstEdit), end: other.endedAt };
  }

  const answersTo = async (src: string): Promise<JournalEntry[]> => {
    const seen: JournalEntry[] = [];
    let before: Moment | undefined;
    for await (const moment of house.runtime.journal.moments(address)) {
      const { source } = moment.entry;
      const effect = before?.effects.find(({ id }) => source.kind === 'effect' && id === source.id);
      if (effect?.src === src) seen.push(moment.entry);
      before = moment;
    }
    return seen;
  };

  const codes: GrpcCode[] = ['INTERNAL', 'UNAVAILABLE', 'ABORTED', 'DEADLINE_EXCEEDED', 'RESOURCE_EXHAUSTED'];

  it('J3 without edits, and with edits that change nothing, a course is what the replay gives', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...codes), { maxLength: 4 }),
        fc.boolean(),
        fc.nat(),
        async (failures, restarts, pick) => {
          await house.dispose();
          house = await new VolumeHouse().furnish();
          await lived(failures, restarts);
          const replayed = await listed(house.runtime.journal.moments(address));
          expect((await course([])).moments).to.deep.equal(replayed);
          const { entry } = replayed[pick % replayed.length] ?? {};
          const same = await course([{ edit: entry?.seq ?? 0, event: entry?.event ?? { type: 'none' } }]);
          expect(same.end).to.equal(undefined);
          expect(same.moments.map(({ snapshot }) => snapshot)).to.deep.equal(replayed.map(({ snapshot }) => snapshot));
        },
      ),
      { numRuns: 12 },
    );
  });

  it('J3 a failed publish answered OK instead: published, and the retry of the journal is not asked for', async () => {
    await lived(['INTERNAL']);
    const [failed, ok] = await answersTo('controllerPublish');
    const { seq = 0 } = failed ?? {};
    const { other, end } = await course([{ edit: seq, event: ok?.event as AnyEventObject }]);
    expect(other[0]?.snapshot?.value).to.deep.equal('published');
    expect(end?.seq).to.be.greaterThan(seq);
    expect(end?.why).to.contain('not set in this course');
  });

  it('J3 a request left out: the answer to its call was never asked for, and the course ends there', async () => {
    await lived([]);
    const publish = (await listed(entries())).find(({ event }) => event?.type === 'volume.publish');
    const { other, end } = await course([{ drop: publish?.seq ?? 0 }]);
    expect(end?.why).to.contain('not made in this course');
    for (const { snapshot } of other) expect(snapshot?.value).to.equal('created');
  });

  it('J3 a request for another node: the answer belongs to another call, and the course ends there', async () => {
    await lived([]);
    const publish = (await listed(entries())).find(({ event }) => event?.type === 'volume.publish');
    const event = { ...(publish?.event as AnyEventObject), nodeId: 'b', csiNodeId: 'csi-b' };
    const { other, end } = await course([{ edit: publish?.seq ?? 0, event }]);
    expect(other).to.have.length(1);
    expect(other[0]?.snapshot?.context).to.have.nested.property('publications.b');
    expect(end?.why).to.contain('asks for something else');
  });

  it('J3 an inserted unpublish leads on; the live volume and its journal stay as they are', async () => {
    await lived([]);
    const before = await listed(entries());
    const last = before.at(-1)?.seq ?? 0;
    const { other } = await course([{ after: last, event: { type: 'volume.unpublish', nodeId: 'a' } }]);
    expect(other.map(({ seq }) => seq)).to.deep.equal([last, Number(`${last}.01`)]);
    expect(other[1]?.snapshot?.value).to.equal('pending-unpublish');
    expect((await house.volumes.get({ id: 'data' }))?.state).to.equal('published');
    expect(await listed(entries())).to.deep.equal(before);
  });

  it('J3 an inserted answer of a call goes to the call that waits for it', async () => {
    await lived([]);
    const [ok] = await answersTo('controllerPublish');
    const asked = (ok?.seq ?? 0) - 1;
    const { other, end } = await course([{ after: asked, event: ok?.event as AnyEventObject }]);
    expect(other[1]?.snapshot?.value).to.equal('published');
    expect(end).to.deep.include({ seq: ok?.seq });
  });

  const faults: [string, Edit, RegExp][] = [
    ['an entry that is not there', { drop: 4_711 }, /the journal has no entry 4711: it has 1 to \d+/],
    [
      'an answer that nothing waits for',
      { after: 3, event: { type: 'xstate.done.actor.nothing' } },
      /nothing waits for xstate.done.actor.nothing after entry 3/,
    ],
  ];
  for (const [title, edit, message] of faults)
    it(`J3 ${title}: refused, with what there is`, async () => {
      await lived([]);
      const error = await refusalOf(course([edit]));
      expect(error).to.include({ code: 'INVALID_ARGUMENT' });
      expect(error.message).to.match(message);
    });
});
