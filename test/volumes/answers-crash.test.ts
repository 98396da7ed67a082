/**
 * Kills the runtime at each point of a volume's call: around the commit of the request, during the call, around the commit
 * of the answer. The next runtime then gets each class of answers, of which `npm test` plays a third.
 */
import { expect } from 'chai';
import type { RpcName } from '../../src/csi/answers.js';
import type { Commit } from '../../src/engine/store.js';
import type { Step } from '../../src/testing/index.js';
import { thirdOf } from '../support/third.js';
import { AnswersScene } from './answers-scene.js';
import { type Answer, answers, reactionTo, type Subject, subjects } from './answers-table.js';

/** One code of each class of answers. */
const classes = ['ABORTED', 'UNAVAILABLE', 'FAILED_PRECONDITION', 'NOT_FOUND', 'INVALID_ARGUMENT', 'INTERNAL'];
const chosen = answers.filter(({ name }) => classes.includes(name));

const entry =
  (type: string) =>
  ({ journal }: Commit): boolean =>
    JSON.parse(journal).event?.type === type;

/** Whether the commit has the outcome of the subject's call: a call that is to be made anew was not made. */
const resultOf =
  ({ effect }: Subject) =>
  ({ journal }: Commit): boolean => {
    const { event } = JSON.parse(journal);
    return event?.type === `xstate.done.actor.${effect}` && event.output.status !== 'call-again';
  };

/** Makes the step of an honest driver: it answers NOT_FOUND to a removal only after the removal is done. */
function stepOf(rpc: RpcName, answer: Answer): Step {
  const { code, text } = answer;
  return { code, text, ...(reactionTo(rpc, answer) === 'taken for done' && { work: true }) };
}

describe('answers to calls of volumes whose runtime is killed', () => {
  let scene: AnswersScene;
  before(async () => {
    scene = await AnswersScene.start();
    await scene.furnish();
  });
  after(() => scene.end());

  /** Makes a volume whose next call is that of the subject. */
  async function begun({ prepare }: Subject): Promise<string> {
    const id = scene.begin();
    await prepare(scene, id);
    return id;
  }

  /** Sends a request to a runtime that is killed before it answers. */
  function askInVain(subject: Subject, id: string): void {
    subject.ask(scene, id).catch(() => {});
  }

  /** Checks the reaction to the answer. @param told how the calls end */
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

    for (const answer of thirdOf(chosen)) {
      const { code } = answer;
      const reaction = reactionTo(rpc, answer);

      it(`V1 ${rpc}, killed before its request is committed: ${name} is repeated, ${answer.name}: ${reaction}`, async () => {
        const id = await begun(subject);
        const was = await scene.runtime.volumes.get({ id });
        scene.driver.script(rpc, stepOf(rpc, answer));
        scene.cutAt({ is: entry(event), done: false });
        askInVain(subject, id);
        await scene.whenCut;
        await scene.succeed();
        expect(await scene.runtime.volumes.get({ id })).to.deep.equal(was);
        expect(scene.ends(rpc)).to.deep.equal([]);
        await subject.ask(scene, id).catch(() => {}); // `settles` checks which answers fail it
        await settles(subject, id, answer, [code]);
      });

      it(`V1 ${rpc}, killed after its request is committed: ${name} resumes, ${answer.name}: ${reaction}`, async () => {
        const id = await begun(subject);
        scene.driver.script(rpc, stepOf(rpc, answer));
        scene.cutAt({ is: entry(event), done: true });
        askInVain(subject, id);
        await scene.whenCut;
        await scene.succeed();
        await settles(subject, id, answer, [code]);
      });

      it(`V4 ${rpc}, killed during the call, work not done: called again, ${answer.name}: ${reaction}`, async () => {
        const id = await begun(subject);
        scene.driver.script(rpc, { hang: 'before' });
        scene.driver.script(rpc, stepOf(rpc, answer));
        askInVain(subject, id);
        await scene.called(rpc);
        await scene.succeed();
        await settles(subject, id, answer, ['gone', code]);
      });

      it(`V4 ${rpc}, killed during the call, work done: called again, ${answer.name}: ${reaction}`, async () => {
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

      it(`V4 ${rpc}, killed before the answer ${answer.name} is committed: called again`, async () => {
        const id = await begun(subject);
        scene.driver.script(rpc, { ...stepOf(rpc, answer), work: true });
        scene.cutAt({ is: resultOf(subject), done: false });
        askInVain(subject, id);
        await scene.whenCut;
        await scene.succeed();
        await scene.becomes(id, subject.isDone);
        expect(scene.ends(rpc)).to.deep.equal([code, 'OK']);
        await scene.checkSettled(id, subject.isReal);
      });

      it(`V4 ${rpc}, killed after the answer ${answer.name} is committed: ${name} is ${reaction}`, async () => {
        const id = await begun(subject);
        scene.driver.script(rpc, stepOf(rpc, answer));
        scene.cutAt({ is: resultOf(subject), done: true });
        askInVain(subject, id);
        await scene.whenCut;
        await scene.succeed();
        await settles(subject, id, answer, [code]);
      });
    }

    for (const done of [false, true]) {
      const calls = done ? ['OK'] : ['OK', 'OK'];
      const when = done ? 'after' : 'before';
      it(`V4 ${rpc}, killed ${when} the answer OK is committed: ${calls.length} calls`, async () => {
        const id = await begun(subject);
        scene.cutAt({ is: resultOf(subject), done });
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
