/**
 * Each call that volumes make, as its runtime dies: around the commit that asks for the call, in the call, around the
 * commit of its answer. The next runtime meets each class of answers.
 */
import { expect } from 'chai';
import type { RpcName } from '../../src/csi/answers.js';
import type { Commit } from '../../src/engine/store.js';
import type { Step } from '../../src/testing/index.js';
import { AnswersScene } from './answers-scene.js';
import { type Answer, answers, reactionTo, type Subject, subjects } from './answers-table.js';

/** One of each class. */
const classes = ['ABORTED', 'UNAVAILABLE', 'FAILED_PRECONDITION', 'NOT_FOUND', 'INVALID_ARGUMENT', 'INTERNAL'];
const chosen = answers.filter(({ name }) => classes.includes(name) || name.includes('wraps'));

/** The commit of an event. */
const entry =
  (type: string) =>
  ({ journal }: Commit): boolean =>
    JSON.parse(journal).event?.type === type;

const resultOf = ({ effect }: Subject): string => `xstate.done.actor.${effect}`;

/** As a driver answers that does not lie: that what is to go is not there, only once it is gone. */
function stepOf(rpc: RpcName, answer: Answer): Step {
  const { code, text } = answer;
  return { code, text, ...(reactionTo(rpc, answer) === 'taken for done' && { work: true }) };
}

describe('the answers to calls for volumes whose runtime dies', () => {
  let scene: AnswersScene;
  before(async () => {
    scene = await AnswersScene.start();
  });
  after(() => scene.end());

  /** A volume for which this call is made next. */
  async function begun({ prepare }: Subject): Promise<string> {
    await scene.furnish();
    const id = scene.begin();
    await prepare(scene, id);
    return id;
  }

  /** Asked of a runtime that will not live to answer. */
  function askInVain(subject: Subject, id: string): void {
    subject.ask(scene, id).catch(() => {});
  }

  /** What the answer leads to in a runtime that has it all to itself; `told` as the calls end then. */
  async function settles(subject: Subject, id: string, answer: Answer, told: string[]): Promise<void> {
    const { rpc } = subject;
    const reaction = reactionTo(rpc, answer);
    if (reaction === 'failed') {
      const volume = await scene.becomes(id, subject.hasFailed);
      expect(subject.message(volume)).to.equal(`${rpc}: ${answer.code}: ${answer.text}`);
      expect(await scene.isAtRest(id), 'it makes no call by itself').to.equal(true);
      expect(scene.ends(rpc)).to.deep.equal(told);
      await scene.runtime.volumes.retry({ id });
    }
    await scene.becomes(id, subject.isDone);
    expect(scene.ends(rpc)).to.deep.equal(reaction === 'taken for done' ? told : [...told, 'OK']);
    await scene.checkSettled(id, subject.isReal);
  }

  for (const subject of subjects) {
    const { rpc, name, event } = subject;

    for (const answer of chosen) {
      const { code } = answer;
      const reaction = reactionTo(rpc, answer);

      it(`V1 ${rpc}, killed before ${name} is committed: it is asked for again, answered ${answer.name}, and ${reaction}`, async () => {
        const id = await begun(subject);
        const was = await scene.runtime.volumes.get({ id });
        scene.driver.script(rpc, stepOf(rpc, answer));
        scene.cutAt({ is: entry(event), done: false });
        askInVain(subject, id);
        await scene.whenCut;
        await scene.succeed();
        expect(await scene.runtime.volumes.get({ id })).to.deep.equal(was);
        expect(scene.ends(rpc)).to.deep.equal([]);
        await subject.ask(scene, id).catch(() => {}); // which answers fail it, `settles` knows
        await settles(subject, id, answer, [code]);
      });

      it(`V1 ${rpc}, killed once ${name} is committed: it goes on by itself, is answered ${answer.name}, and ${reaction}`, async () => {
        const id = await begun(subject);
        scene.driver.script(rpc, stepOf(rpc, answer));
        scene.cutAt({ is: entry(event), done: true });
        askInVain(subject, id);
        await scene.whenCut;
        await scene.succeed();
        await settles(subject, id, answer, [code]);
      });

      it(`V4 ${rpc}, killed in the call before its work: it is made again, answered ${answer.name}, and ${reaction}`, async () => {
        const id = await begun(subject);
        scene.driver.script(rpc, { hang: 'before' });
        scene.driver.script(rpc, stepOf(rpc, answer));
        askInVain(subject, id);
        await scene.called(rpc);
        await scene.succeed();
        await settles(subject, id, answer, ['gone', code]);
      });

      it(`V4 ${rpc}, killed in the call, whose work is done all the same: it is made again, answered ${answer.name}, and ${reaction}`, async () => {
        const id = await begun(subject);
        scene.driver.script(rpc, { hang: 'before', goOn: true });
        scene.driver.script(rpc, stepOf(rpc, answer));
        askInVain(subject, id);
        const { number } = await scene.called(rpc);
        await scene.succeed(async () => {
          scene.driver.release(number);
          expect((await scene.driver.waitForEnd(number)).end?.work).to.equal('OK');
        });
        await settles(subject, id, answer, ['OK', code]);
      });

      it(`V4 ${rpc}, killed when it is answered ${answer.name}, before that is committed: it is made again`, async () => {
        const id = await begun(subject);
        scene.driver.script(rpc, { ...stepOf(rpc, answer), work: true });
        scene.cutAt({ is: entry(resultOf(subject)), done: false });
        askInVain(subject, id);
        await scene.whenCut;
        await scene.succeed();
        await scene.becomes(id, subject.isDone);
        expect(scene.ends(rpc)).to.deep.equal([code, 'OK']);
        await scene.checkSettled(id, subject.isReal);
      });

      it(`V4 ${rpc}, killed once the answer ${answer.name} is committed: ${name} is ${reaction}`, async () => {
        const id = await begun(subject);
        scene.driver.script(rpc, stepOf(rpc, answer));
        scene.cutAt({ is: entry(resultOf(subject)), done: true });
        askInVain(subject, id);
        await scene.whenCut;
        await scene.succeed();
        await settles(subject, id, answer, [code]);
      });
    }

    for (const done of [false, true]) {
      const calls = done ? ['OK'] : ['OK', 'OK'];
      const when = done ? 'once that is' : 'before that is';
      it(`V4 ${rpc}, killed when it is answered OK, ${when} committed: ${calls.length} calls`, async () => {
        const id = await begun(subject);
        scene.cutAt({ is: entry(resultOf(subject)), done });
        askInVain(subject, id);
        await scene.whenCut;
        await scene.succeed();
        await scene.becomes(id, subject.isDone);
        expect(scene.ends(rpc)).to.deep.equal(calls);
        await scene.checkSettled(id, subject.isReal);
      });
    }
  }
});
