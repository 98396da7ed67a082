/** Tests the list of volumes: filters, and pages that miss no volume. */
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import { pluginName, spec, VolumeHouse } from './volume-house.js';

const capability = { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' } as const;

describe('listing volumes', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
  });
  afterEach(() => house.dispose());

  const idsOf = async (filter: object): Promise<string[]> =>
    (await house.volumes.list(filter)).items.map(({ key }) => `${key.namespace}/${key.id}`);

  it('V21 no volumes: an empty page without a next one', async () => {
    expect(await house.volumes.list()).to.deep.equal({ items: [] });
  });

  it('V21 filters by namespace, plugin, state, node and prefix of the id; all must match', async () => {
    const connection = { socketPath: '/nowhere/other.sock' };
    await house.runtime.plugins.register({ type: 'csi-controller', name: 'other', allocId: 'other-1', connection });
    await house.rest();
    await house.volumes.create(spec('data-1'));
    await house.volumes.create(spec('data-2'));
    await house.volumes.create(spec('data-1', { namespace: 'team' }));
    await house.volumes.create(spec('logs/%é', { namespace: 'team', plugin: 'other' }));
    await house.volumes.publish({ id: 'data-2' }, 'a', { capability });
    expect(await idsOf({})).to.deep.equal(['default/data-1', 'default/data-2', 'team/data-1', 'team/logs/%é']);
    expect(await idsOf({ namespace: 'team' })).to.deep.equal(['team/data-1', 'team/logs/%é']);
    expect(await idsOf({ namespace: 'tea' })).to.deep.equal([]);
    expect(await idsOf({ plugin: pluginName })).to.deep.equal(['default/data-1', 'default/data-2', 'team/data-1']);
    expect(await idsOf({ state: 'published' })).to.deep.equal(['default/data-2']);
    expect(await idsOf({ node: 'a' })).to.deep.equal(['default/data-2']);
    expect(await idsOf({ node: 'b' })).to.deep.equal([]);
    expect(await idsOf({ idPrefix: 'data-1' })).to.deep.equal(['default/data-1', 'team/data-1']);
    expect(await idsOf({ namespace: 'team', idPrefix: 'logs/%' })).to.deep.equal(['team/logs/%é']);
    expect(await idsOf({ namespace: 'team', plugin: pluginName, idPrefix: 'l' })).to.deep.equal([]);
    const [item] = (await house.volumes.list({ node: 'a' })).items;
    expect(item).to.deep.equal(await house.volumes.get({ id: 'data-2' }));
  });

  it('V21 page by page: each volume that stays appears once, despite creations and deletions', async () => {
    const ids = Array.from({ length: 25 }, (_, index) => `v-${String(index * 2).padStart(2, '0')}`);
    await Promise.all(ids.map((id) => house.volumes.create(spec(id))));
    const seen: string[] = [];
    let after: string | undefined;
    let pages = 0;
    do {
      const page = await house.volumes.list({ limit: 10, ...(after !== undefined && { after }) });
      expect(page.items.length).to.be.within(1, 10);
      seen.push(...page.items.map(({ key }) => key.id));
      pages += 1;
      // Deletes a volume that was listed, and creates one before it.
      await house.volumes.delete({ id: seen.at(-1) ?? '' });
      await house.volumes.create(spec(`u-${pages}`));
      after = page.next;
    } while (after !== undefined);
    expect(pages).to.equal(3);
    expect(seen).to.deep.equal(ids);
  });

  it('V21 a full last page has no next page', async () => {
    await Promise.all(['a', 'b'].map((id) => house.volumes.create(spec(id))));
    const page = await house.volumes.list({ limit: 2 });
    expect(page.items).to.have.length(2);
    expect(page).to.not.have.property('next');
  });

  it('V21 few matches in many rows: all are found, some pages may be empty', async () => {
    const ids = Array.from({ length: 5_000 }, (_, index) => `v-${String(index).padStart(4, '0')}`);
    await Promise.all(ids.map((id) => house.volumes.create(spec(id))));
    await house.volumes.publish({ id: 'v-4999' }, 'a', { capability });
    const first = await house.volumes.list({ node: 'a' });
    expect(first.items).to.deep.equal([]);
    const second = await house.volumes.list({ node: 'a', after: first.next ?? '' });
    expect(second.items.map(({ key }) => key.id)).to.deep.equal(['v-4999']);
    expect(second.next).to.equal(undefined);
  });

  it('V21 after a restart: the same list, though no volume is in memory', async () => {
    await house.volumes.create(spec('data'));
    const before = await house.volumes.list();
    await house.restart();
    expect(await house.volumes.list()).to.deep.equal(before);
  });

  it('V21 a bad filter: INVALID_ARGUMENT with every fault', async () => {
    const filter: object = { namespace: '', state: 'gone', limit: 1_001, after: 'x', name: 'y' };
    const error = await refusalOf(house.volumes.list(filter));
    expect(error).to.include({ code: 'INVALID_ARGUMENT' });
    expect(error.faults?.map((fault) => fault.split(':')[0])).to.deep.equal([
      'namespace',
      'state',
      'limit',
      'after',
      'name',
    ]);
  });
});
