/**
 * Gives each answer of a driver to each call of snapshots and group snapshots: before the work, after it, and after a lost
 * answer. A snapshot whose call had no answer can't be trusted: it is removed and created again. `npm test`
 * plays a third of the answers.
 */
import { expect } from 'chai';
import type { RpcName } from '../../src/csi/answers.js';
import type { Step } from '../../src/testing/index.js';
import { refusalOf } from '../refusal.js';
import { thirdOf } from '../support/third.js';
import { eventually } from '../until.js';
import { AnswersScene } from '../volumes/answers-scene.js';
import { type Answer, answers } from '../volumes/answers-table.js';
import { ofGroups, ofOne, type Sort, sources } from './snapshot-variants.js';

const lost: Step = { breakOff: 'after' };
/** One code of each class of answers, for groups: both kinds have the same states. */
const classes = [
  'ABORTED',
  'UNAVAILABLE',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'NOT_FOUND',
  'INVALID_ARGUMENT',
];

const sorts: (Sort & { chosen: readonly Answer[] })[] = [
  { ...ofOne, chosen: answers },
  { ...ofGroups, chosen: answers.filter(({ name }) => classes.includes(name)) },
];

const final = ['NOT_FOUND', 'INVALID_ARGUMENT', 'ALREADY_EXISTS', 'OUT_OF_RANGE', 'UNIMPLEMENTED'];
const isFinal = ({ code }: Answer): boolean => [...final, 'PERMISSION_DENIED', 'UNAUTHENTICATED'].includes(code);

/** Whether a creation fails with this answer. A lack of space is left to the caller, too. */
const isLeft = (answer: Answer): boolean => isFinal(answer) || answer.code === 'RESOURCE_EXHAUSTED';
/** Whether a call with this answer may have been done, or still be under way. */
const isDoubtful = (answer: Answer): boolean =>
  !isFinal(answer) && !['ABORTED', 'FAILED_PRECONDITION'].includes(answer.code);

const positions: { name: string; steps(answer: Answer): Step[]; isWorkDone: boolean; wasLost: boolean }[] = [
  { name: 'before the work', steps: ({ code, text }) => [{ code, text }], isWorkDone: false, wasLost: false },
  { name: 'after the work', steps: ({ code, text }) => [{ code, text, work: true }], isWorkDone: true, wasLost: false },
  { name: 'after a lost answer', steps: ({ code, text }) => [lost, { code, text }], isWorkDone: true, wasLost: true },
];

const endOf = ({ code }: Step): string => code ?? 'broken';

describe('answers to calls of snapshots', () => {
  let scene: AnswersScene;
  before(async () => {
    scene = await AnswersScene.start();
    await scene.furnish();
    for (const { id } of sources) await scene.runtime.volumes.create(scene.spec(id));
  });
  after(() => scene.end());

  for (const { creates, deletes, chosen, of, create, address, real, believed } of sorts) {
    const get = (id: string) => of(scene).get({ id });
    const remove = (id: string) => of(scene).delete({ id });

    async function becomes(id: string, state: string | undefined): Promise<void> {
      await eventually(`${id} is ${state}`, async () => (await get(id))?.state === state);
    }

    /** Checks that the driver has only this snapshot, and nothing after its deletion. */
    async function settles(id: string): Promise<void> {
      const snapshot = await get(id);
      expect(snapshot?.state).to.equal('ready');
      expect(real(scene)).to.deep.equal(snapshot && believed(snapshot));
      await remove(id);
      isGone();
    }

    function isGone(): void {
      expect(real(scene)).to.deep.equal([]);
      scene.checkCalls();
    }

    /** Checks that a snapshot has failed with this answer, and rests. */
    async function failedWith(refusal: Error, rpc: RpcName, { code, text }: Answer, id: string): Promise<void> {
      const final = code !== 'RESOURCE_EXHAUSTED';
      expect(refusal).to.deep.include({ code: 'CSI_ERROR', rpc, grpcCode: code, final });
      expect(await get(id)).to.include({ state: 'failed' });
      const message = (await get(id))?.error?.message;
      if (final) expect(message).to.equal(`${rpc}: ${code}: ${text}`);
      else expect(message).to.include(`${rpc}: ${code}: ${text}; it may have been made all the same`);
      expect(await scene.isIdle(address(id))).to.equal(true);
    }

    for (const answer of thirdOf(chosen)) {
      for (const { name: position, steps, isWorkDone, wasLost } of positions) {
        // The answer to a repeated call does not resolve the call before it.
        const isAnew = isDoubtful(answer) || wasLost;
        const reaction = `${isLeft(answer) ? 'failed' : 'called again'}${isAnew ? ', and created again' : ''}`;

        it(`V11 ${creates} answered ${answer.name} ${position}: ${reaction}`, async () => {
          const id = scene.begin();
          const script = steps(answer);
          for (const step of script) scene.driver.script(creates, step);
          const told = script.map(endOf);
          if (isLeft(answer)) {
            await failedWith(await refusalOf(create(scene, id)), creates, answer, id);
            expect(scene.ends(creates)).to.deep.equal(told);
            await of(scene).retry({ id });
            await becomes(id, 'ready');
          } else {
            await create(scene, id);
          }
          expect(scene.ends(creates)).to.deep.equal([...told, 'OK', ...(isAnew ? ['OK'] : [])]);
          expect(scene.ends(deletes)).to.deep.equal(isAnew ? ['OK'] : []);
          await settles(id);
        });

        // Only a lying driver answers NOT_FOUND to the removal of a thing that exists.
        if (answer.code === 'NOT_FOUND' && !isWorkDone) continue;
        const isOver = answer.code === 'NOT_FOUND';
        const outcome = isOver ? 'taken for done' : isFinal(answer) ? 'failed' : 'asked again';

        it(`V11 ${deletes} answered ${answer.name} ${position}: ${outcome}`, async () => {
          const id = scene.begin();
          await create(scene, id);
          const script = steps(answer);
          for (const step of script) scene.driver.script(deletes, step);
          const told = script.map(endOf);
          if (outcome === 'failed') {
            await failedWith(await refusalOf(remove(id)), deletes, answer, id);
            expect(scene.ends(deletes)).to.deep.equal(told);
            await of(scene).retry({ id });
            await becomes(id, undefined);
          } else {
            await remove(id);
          }
          expect(scene.ends(deletes)).to.deep.equal(isOver ? told : [...told, 'OK']);
          expect(await get(id)).to.equal(undefined);
          isGone();
        });
      }
    }

    for (const moment of ['before', 'after'] as const) {
      it(`V11 ${creates}, connection broken ${moment} its work: created again`, async () => {
        const id = scene.begin();
        scene.driver.script(creates, { breakOff: moment });
        await create(scene, id);
        expect(scene.ends(creates)).to.deep.equal(['broken', 'OK', 'OK']);
        expect(scene.ends(deletes)).to.deep.equal(['OK']);
        await settles(id);
      });

      it(`V11 ${deletes}, connection broken ${moment} its work: called again`, async () => {
        const id = scene.begin();
        await create(scene, id);
        scene.driver.script(deletes, { breakOff: moment }, { times: 2 });
        await remove(id);
        expect(scene.ends(deletes)).to.deep.equal(['broken', 'broken', 'OK']);
        isGone();
      });
    }
  }
});
