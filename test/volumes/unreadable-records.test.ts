/** Records that can't be read: left out of each walk, quarantined and named, while everything else goes on. */
import { expect } from 'chai';
import { overviewOf } from '../../src/inspector/actor-answers.js';
import { refusalOf } from '../refusal.js';
import { spec, VolumeHouse } from './volume-house.js';

const single = { accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;
const bad = 'volume/default/bad';
const good = 'volume/default/good';

describe('a volume whose record is damaged', () => {
  let house: VolumeHouse;
  let warnings: string[];
  beforeEach(async () => {
    warnings = [];
    const logged = (_: object, message: string): void => void warnings.push(message);
    const logger = { debug: () => {}, info: () => {}, warn: logged, error: logged };
    house = await new VolumeHouse().furnish({ logger });
    for (const id of ['bad', 'good']) {
      await house.volumes.create(spec(id));
      await house.volumes.claim({ id }, { allocId: `of-${id}`, nodeId: 'a', mode: 'write', ...single });
      await house.volumes.publish({ id }, 'a');
    }
  });
  afterEach(() => house.dispose());

  const textOf = async (address: string): Promise<string> => (await house.store.load(address))?.text ?? '';

  /** Writes a record into the store while no runtime uses it, with a journal entry. */
  async function plant(address: string, text: string, journal = '{}'): Promise<void> {
    await house.runtime.close();
    await house.store.open();
    const { seq = 0, epoch = 1, owner = '' } = (await house.store.load(address)) ?? {};
    const commit = { address, commitId: `planted.${seq}`, expectedSeq: seq, epoch, owner, text, journal };
    expect(await house.store.commit([commit])).to.deep.equal([{ status: 'done' }]);
    await house.open();
    await house.register();
    await house.rest();
  }

  const asOld = (text: string): string => text.replace(/"version":"\d+"/, '"version":"1"');

  it('35.9 a record from before 0.2.0 is left as it is: the reason names the version that reads it', async () => {
    const old = asOld(await textOf(bad));
    await plant(bad, old);
    const refusal = await refusalOf(house.volumes.retry({ id: 'bad' }));
    expect(refusal).to.include({ code: 'ACTOR_QUARANTINED' });
    const [{ reason = '' } = {}] = house.runtime.actors.quarantined();
    expect(reason).to.include('it is of volume version 1, and 0.3.0 was the last to read it: open a backup');
    expect(await textOf(bad)).to.equal(old);
  });

  const damages: [string, (text: string) => string | Promise<string>][] = [
    ['is cut off', (text) => text.slice(0, 100)],
    ['has null as the key in its context', (text) => text.replace(/"key":\{[^}]*\}/, '"key":null')],
    ['has a list as its publications', (text) => text.replace(/"publications":\{/, '"publications":[],"was":{')],
    ['is that of another volume', () => textOf(good)],
    ['is of a version from before 0.2.0', asOld],
  ];
  for (const [how, damage] of damages) {
    it(`34.15 a record that ${how}: others are walked, it is quarantined`, async () => {
      const text = await textOf(bad);
      const damaged = await damage(text);
      expect(damaged).to.not.equal(text);
      await plant(bad, damaged);

      const { items, skipped } = await house.volumes.list();
      expect(items.map(({ key }) => key.id)).to.deep.equal(['good']);
      expect(skipped).to.equal(1);
      const [compared] = await house.volumes.reconcile('disk');
      expect(compared).to.include({ volumes: 1 });
      // The plugin lists the damaged volume: it is no orphan that somebody may delete.
      expect(await house.volumes.orphans()).to.deep.equal({ orphans: [], unknown: [], skipped: 1 });
      expect(house.runtime.actors.quarantined().map(({ address }) => address)).to.deep.equal([bad]);
      const overview = await overviewOf(house.runtime, { version: '0', at: 0 });
      expect(overview.trouble.map(({ address }) => address)).to.include(bad);

      await house.runtime.nodes.fence('a', 'burnt');
      await house.rest();
      expect((await house.volumes.get({ id: 'good' }))?.claims).to.deep.equal([]);
      const { fence } = await house.runtime.nodes.status('a');
      expect(fence).to.deep.include({ isDone: true, unread: ['default/bad'] });
      expect(await textOf(bad)).to.equal(damaged);
      expect(warnings.filter((line) => line.startsWith('actor quarantined'))).to.have.length(1);
      expect(warnings.join('\n')).to.include(
        'node a is fenced, but 1 volumes could not take the fence and may be on it (default/bad)',
      );
    });
  }

  it('34.15 damage deep in a context: others are listed, shown and fenced, and it is named', async () => {
    const text = await textOf(bad);
    await plant(bad, text.replace(/"publications":\{"a":\{/, '"publications":{"b":null,"a":{'));
    expect(await textOf(bad)).to.not.equal(text);
    const { items, skipped } = await house.volumes.list();
    expect([items.map(({ key }) => key.id), skipped]).to.deep.equal([['good'], 1]);
    const overview = await overviewOf(house.runtime, { version: '0', at: 0 });
    expect(overview.trouble.map(({ address }) => address)).to.include(bad);
    await house.runtime.nodes.fence('a', 'burnt');
    await house.rest();
    expect((await house.volumes.get({ id: 'good' }))?.claims).to.deep.equal([]);
  });

  it('34.15 a record that was damaged during a fence and is repaired: another fence reaches it', async () => {
    const text = await textOf(bad);
    await plant(bad, text.slice(0, 100));
    await house.runtime.nodes.fence('a', 'burnt');
    await house.rest();
    await plant(bad, text);
    expect((await house.volumes.get({ id: 'bad' }))?.claims).to.have.length(1);
    await house.runtime.nodes.fence('a', 'burnt');
    await house.rest();
    expect((await house.volumes.get({ id: 'bad' }))?.claims).to.deep.equal([]);
    expect((await house.runtime.nodes.status('a')).fence).to.not.have.property('unread');
  });

  it('34.15 a volume out of service, its record readable: a fence ends and names it; the next reaches it', async () => {
    const quarantined = '"quarantined":{"at":1,"reason":"it crashed too often"}';
    await plant(bad, (await textOf(bad)).replace('{', `{${quarantined},`));
    await house.runtime.nodes.fence('a', 'burnt');
    await house.rest();
    expect((await house.volumes.get({ id: 'good' }))?.claims).to.deep.equal([]);
    expect((await house.runtime.nodes.status('a')).fence).to.deep.include({ isDone: true, unread: ['default/bad'] });
    await house.runtime.actors.release(bad);
    expect((await house.volumes.get({ id: 'bad' }))?.claims).to.have.length(1);
    await house.runtime.nodes.fence('a', 'burnt');
    await house.rest();
    expect((await house.volumes.get({ id: 'bad' }))?.claims).to.deep.equal([]);
    expect((await house.runtime.nodes.status('a')).fence).to.not.have.property('unread');
  });

  it('V18, 34.15 its node gets a limit while it is out of service: it counts, and others are published', async () => {
    const quarantined = '"quarantined":{"at":1,"reason":"it crashed too often"}';
    await plant(bad, (await textOf(bad)).replace('{', `{${quarantined},`));
    await house.runtime.nodes.report({ id: 'a', plugins: [{ name: 'disk', nodeId: 'csi-a', maxVolumes: 3 }] });
    const publish = async (id: string): Promise<string> => {
      await house.volumes.create(spec(id));
      return house.volumes.publish({ id }, 'a').then(
        () => 'there',
        ({ code }: { code: string }) => code,
      );
    };
    expect([await publish('third'), await publish('fourth')]).to.deep.equal(['there', 'NODE_FULL']);

    await house.runtime.actors.release(bad);
    await house.volumes.release({ id: 'bad' }, 'of-bad');
    const [claim] = (await house.volumes.get({ id: 'bad' }))?.claims ?? [];
    await house.runtime.nodes.reportUnstaged('a', { id: 'bad' }, { claimGeneration: claim?.generation ?? 0 });
    await house.rest();
    expect(await publish('fifth')).to.equal('there');
  });

  it('34.15 external volume while a record is unread: refused, naming it; after its repair: compared', async () => {
    const text = await textOf(bad);
    await plant(bad, text.slice(0, 100));
    const taking = spec('taken', { external: { csiId: 'vol-1' } });
    const refusal = await refusalOf(house.volumes.create(taking));
    expect(refusal).to.include({ code: 'VOLUME_IN_USE' });
    expect(refusal.message).to.include('volume default/bad').and.include('actor release');
    expect(await house.volumes.get({ id: 'taken' })).to.equal(undefined);

    // Repaired while the runtime goes on.
    const { seq = 0, epoch = 1, owner = '' } = (await house.store.load(bad)) ?? {};
    const commit = { address: bad, commitId: 'repaired', expectedSeq: seq, epoch, owner, text, journal: '{}' };
    expect(await house.store.commit([commit])).to.deep.equal([{ status: 'done' }]);
    await house.runtime.actors.release(bad);
    expect(await refusalOf(house.volumes.create(taking))).to.include({ code: 'VOLUME_EXISTS' });
    house.plugin.keeps('vol-9');
    await house.volumes.create(spec('taken', { external: { csiId: 'vol-9' } }));
  });

  it('34.15 a garbage journal entry: the export and the history go on without it, and name it once', async () => {
    await plant(bad, await textOf(bad), '\u0000garbage');
    const { last } = await house.runtime.journal.range(bad);
    const lines: string[] = [];
    for await (const line of house.runtime.journal.export()) lines.push(line);
    const end = JSON.parse(lines.at(-1) ?? '');
    expect(end).to.deep.include({ end: true });
    expect(end.unreadable).to.have.length(1);
    expect(end.unreadable[0]).to.include({ actor: bad, seq: last });
    expect(lines.some((line) => line.startsWith(`{"actor":"${good}"`))).to.equal(true);
    const seqs: number[] = [];
    for await (const { seq } of house.runtime.journal.moments(bad)) seqs.push(seq);
    expect(seqs.at(-1)).to.equal(last - 1);
    expect(warnings.filter((line) => line.startsWith(`entry ${last} of ${bad} can't be read`))).to.have.length(1);
    expect(await refusalOf(house.runtime.journal.replay(bad))).to.include({ code: 'JOURNAL_BROKEN' });
  });
});
