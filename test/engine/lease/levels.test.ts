/** Runtimes of different versions compete for one lease: none works on what it can't read. */
import { expect } from 'chai';
import { setup } from 'xstate';
import { StagecraftError } from '../../../src/errors.js';
import { deskKind, note } from '../desk.js';
import { failureOf, leaseTtlMs } from '../lab.js';
import { leads, notes, type Side, Sides } from '../sides.js';

const address = 'desk/shared/a';

describe('the level of what is stored', () => {
  let sides: Sides;

  beforeEach(async () => {
    sides = new Sides();
    await sides.lab.data.open();
  });

  const crash = ({ store }: Side): void => {
    for (const method of ['renewLease', 'acquireLease', 'releaseLease', 'commit'] as const) store.hold(method);
  };

  it('O5, 34.7 a newer one has led: an older one is granted nothing, and says which version it needs', async () => {
    const newer = await sides.side('newer', { level: 2 });
    const older = await sides.side('older', { level: 1 });
    expect(older.elected.isTooOld).to.equal(false);
    await sides.stop(newer);
    await sides.lab.clock.advance(3 * leaseTtlMs);
    expect([leads(older), older.elected.isTooOld]).to.deep.equal([false, true]);
    const why =
      'this agent (0.1.0) reads level 1 of what is stored, and the store has level 2: update it to 0.2.0 or newer';
    expect(older.elected.refusal?.message).to.equal(why);
    expect(await failureOf(older.elected.ask(address, note('no')))).to.include({ code: 'NOT_LEADER' });
  });

  it('O5, 34.7 the lease of a node itself: an older one does not start', async () => {
    const { lab } = sides;
    const asked = { name: 'node/n1', owner: 'newer', holder: 'newer', ttlMs: leaseTtlMs };
    const result = await lab.data.acquireLease({ ...asked, reads: { level: 2, version: '0.2.0' } });
    if (result.status !== 'granted') throw new Error(result.status);
    await lab.data.releaseLease(result.lease);
    const older = lab.engine([], lab.store(), { level: 1, version: '0.1.0' });
    expect(await failureOf(older.open())).to.include({ code: 'STORE_TOO_NEW' });
  });

  for (const end of ['stops', 'dies'] as const)
    it(`O5, 34.7 one of an older version ${end}, and another of it stands by: that one leads, not the newer`, async () => {
      const first = await sides.side('first', { level: 1 });
      await first.elected.ask(address, note('one'));
      const newer = await sides.side('newer', { level: 2 });
      const older = await sides.side('older', { level: 1 });
      sides.fit.add('newer').add('older');
      if (end === 'dies') crash(first);
      else await sides.stop(first);
      await sides.lab.clock.advance(2 * leaseTtlMs);
      expect([newer, older].map(leads)).to.deep.equal([false, true]);
      expect(await notes(older, address)).to.deep.equal(['one']);
      await sides.stop(older);
      await sides.lab.clock.advance(2 * leaseTtlMs);
      expect(leads(newer)).to.equal(true);
      expect(await notes(newer, address)).to.deep.equal(['one']);
    });

  it('O5, 34.7 all older ones die at once: the newer one leads within two lease times', async () => {
    const first = await sides.side('first', { level: 1 });
    const newer = await sides.side('newer', { level: 2 });
    const older = await sides.side('older', { level: 1 });
    for (const one of [first, older]) crash(one);
    await sides.lab.clock.advance(2 * leaseTtlMs + 1_000);
    expect(leads(newer)).to.equal(true);
  });

  it('O5, 34.7 a newer one that is to lead waits: an older one does not give the lease up for it', async () => {
    const older = await sides.side('older', { level: 1 });
    await sides.side('newer', { level: 2 });
    sides.fit.add('newer');
    await sides.lab.clock.advance(3 * leaseTtlMs);
    expect([leads(older), older.elections]).to.deep.equal([true, [1]]);
  });

  it('O5, 34.7 refused with a reason of its own: the error says so where another agent is asked', async () => {
    const newer = await sides.side('newer', { level: 2 });
    const older = await sides.side('older', { level: 1 });
    await sides.stop(newer);
    await sides.lab.clock.advance(1_000);
    const { cause } = older.elected.refusal ?? {};
    expect(cause).to.be.instanceOf(StagecraftError).and.include({ code: 'STORE_TOO_NEW' });
  });

  it('O3, 34.7 a record of an older machine version: who stands by reads it migrated, and writes nothing', async () => {
    const older = await sides.side('older', { level: 1 });
    await older.elected.ask(address, note('one'));
    const newer = await sides.side('newer', { level: 2, desk: renamedDesk });
    const before = await sides.lab.data.load(address);
    const page = await newer.elected.page({ prefix: 'desk/shared/', limit: 10 });
    for (const context of [(await newer.elected.read(address))?.context, page.rows[0]?.[1].context])
      expect(context).to.deep.equal({ name: address, lines: ['one'] });
    expect(await sides.lab.data.load(address)).to.deep.equal(before);
  });
});

/** Desks of a later version, which call their notes lines. */
const renamedDesk: typeof deskKind = {
  ...deskKind,
  machine: setup({
    types: {} as { context: { name: string; lines: string[] }; input: { name: string } },
  }).createMachine({
    id: 'desk',
    version: '2',
    context: ({ input }) => ({ name: input.name, lines: [] }),
    initial: 'open',
    states: { open: {} },
  }),
  migrations: [
    {
      name: 'notes become lines',
      from: '1',
      to: '2',
      migrate: ({ context, ...snapshot }) => ({
        ...snapshot,
        context: { name: Reflect.get(context, 'name'), lines: Reflect.get(context, 'notes') },
      }),
    },
  ],
};
