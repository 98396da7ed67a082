/** Answers: a caller gets its answer after the commit, and the same answer for a repeated request. */
import { expect } from 'chai';
import type { AnyEventObject } from 'xstate';
import { deskKind, note, orderedDeskKind } from '../desk.js';
import { failureOf, historyOf, Lab, type Life } from '../lab.js';

const address = 'desk/a';
const read: AnyEventObject = { type: 'read' };

describe('answers', () => {
  let lab: Lab;
  let life: Life;

  beforeEach(async () => {
    lab = new Lab();
    await restart();
  });

  const restart = async (): Promise<void> => {
    life = await lab.start([deskKind]);
  };
  const ask = (event: AnyEventObject, requestId?: string): Promise<unknown> =>
    life.engine.ask(address, event, requestId === undefined ? {} : { requestId });

  it('machine answers with a value: the caller gets it', async () => {
    await ask(note('one'));
    expect(await ask(read)).to.deep.equal(['one']);
  });

  it('machine refuses: the caller gets its error, and the new state is committed', async () => {
    const error = await failureOf(ask({ type: 'refuse', code: 'NODE_FULL' }));
    expect(error).to.include({ code: 'NODE_FULL', message: 'not today', address });
    expect(await ask(read)).to.deep.equal(['refused']);
  });

  it('machine does not answer: the caller gets undefined', async () => {
    expect(await ask(note('one'))).to.equal(undefined);
  });

  it('machine has no transition for the event: the caller gets undefined', async () => {
    expect(await ask({ type: 'unheard of' })).to.equal(undefined);
  });

  for (const isRestarted of [false, true]) {
    const when = isRestarted ? 'after a restart' : 'at once';
    const between = async (): Promise<void> => {
      if (isRestarted) await restart();
    };

    it(`request repeated ${when}: same value, and counts once`, async () => {
      await ask(note('one'), 'r-note');
      expect(await ask(read, 'r-read')).to.deep.equal(['one']);
      await ask(note('two'));
      await between();
      expect(await ask(note('one'), 'r-note')).to.equal(undefined);
      expect(await ask(read, 'r-read')).to.deep.equal(['one']);
      expect(await ask(read)).to.deep.equal(['one', 'two']);
    });

    it(`refused request repeated ${when}: refused with the same message`, async () => {
      const event = { type: 'refuse', code: 'NODE_FULL' };
      const [first] = [await failureOf(ask(event, 'r1')), await between()];
      const second = await failureOf(ask(event, 'r1'));
      expect(second).to.deep.include({ code: first.code, message: first.message, address });
      expect(await ask(read)).to.deep.equal(['refused']);
    });

    it(`request that crashed its actor repeated ${when}: not tried again`, async () => {
      await failureOf(ask({ type: 'breakAction' }, 'r1'));
      await between();
      expect(await failureOf(ask({ type: 'breakAction' }, 'r1'))).to.include({ code: 'ACTOR_CRASHED' });
      expect(await historyOf(life.engine, address)).to.deep.equal(['crash breakAction']);
    });

    it(`request that ended its actor repeated ${when}: same answer, not ACTOR_NOT_FOUND`, async () => {
      await ask({ type: 'close' }, 'r1');
      await between();
      expect(await ask({ type: 'close' }, 'r1')).to.equal(undefined);
      expect(await historyOf(life.engine, address)).to.deep.equal(['event close']);
    });
  }

  it('request repeated while the first is under way: both get the same answer, and it counts once', async () => {
    const answers = await Promise.all([ask(note('one'), 'r1'), ask(note('one'), 'r1'), ask(read)]);
    expect(answers).to.deep.equal([undefined, undefined, ['one']]);
  });

  it('runtime dies before the caller gets the answer: the repeat gets the first answer', async () => {
    life.store.hold('commit', 'after');
    void ask(note('one'), 'r1');
    await lab.rest();
    await restart();
    await ask(note('one'), 'r1');
    expect(await ask(read)).to.deep.equal(['one']);
  });

  it('different requests with the same event: each counts', async () => {
    await ask(note('one'), 'r1');
    await ask(note('one'), 'r2');
    expect(await ask(read, 'r3')).to.deep.equal(['one', 'one']);
  });

  it('same request id at another actor: another request', async () => {
    await ask(note('one'), 'r1');
    await life.engine.ask('desk/b', note('one'), { requestId: 'r1' });
    expect(await life.engine.ask('desk/b', read)).to.deep.equal(['one']);
  });

  it('request repeated after 31 others: still gets its answer', async () => {
    await ask(note('first'), 'r0');
    for (let index = 1; index <= 31; index += 1) await ask(note(index), `r${index}`);
    await ask(note('first'), 'r0');
    expect(await ask(read)).to.have.length(32);
  });

  it('answer of more than plain data: the same at first and when repeated', async () => {
    await failureOf(ask({ type: 'swell', what: 'answer' }));
    await failureOf(ask({ type: 'swell', what: 'answer' }, 'r1'));
    expect(await historyOf(life.engine, address)).to.deep.equal(['crash swell', 'crash swell']);
  });

  for (const type of ['xstate.done.actor.work', 'xstate.init', 'xstate.stop', 'xstate.after.1.desk', '*']) {
    it(`request with the event ${type}: refused before the machine sees it`, async () => {
      expect(await failureOf(ask({ type }))).to.include({ code: 'INVALID_ARGUMENT', address });
      expect(await historyOf(life.engine, address)).to.deep.equal([]);
    });
  }

  for (const nobody of ['stranger/a', 'desks', 'des', '', 'desk2/a']) {
    it(`request to '${nobody}', whose machine is not hosted here: refused`, async () => {
      expect(await failureOf(life.engine.ask(nobody, read))).to.include({ code: 'ACTOR_NOT_FOUND' });
    });
  }

  for (const [what, unwritable] of [
    ['too long', `desk/${'x'.repeat(956)}`],
    ['a control character', 'desk/\u0000'],
    ['half a surrogate pair', 'desk/\ud800'],
  ] as const) {
    it(`address that no store can keep (${what}): refused, and others commit`, async () => {
      const refused = failureOf(life.engine.ask(unwritable, note('x')));
      await ask(note('one'));
      expect(await refused).to.include({ code: 'INVALID_ARGUMENT' });
    });
  }

  it('request to an actor that was never begun: refused, and leaves no record', async () => {
    life = await lab.start([orderedDeskKind]);
    expect(await failureOf(ask(read))).to.include({ code: 'ACTOR_NOT_FOUND', address });
    expect(await lab.data.load(address)).to.equal(undefined);
  });

  it('event that JSON cannot hold: an error of its sender', async () => {
    const thrown: unknown = await ask({ type: 'note', text: 10n }).catch((error: unknown) => error);
    expect(thrown).to.be.instanceOf(TypeError);
    await ask(note('one'));
    expect(await ask(read)).to.deep.equal(['one']);
  });
});
