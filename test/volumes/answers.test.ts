/** Gives each answer of a driver to each call of volumes: before the work, after it, and after a lost answer. */
import { expect } from 'chai';
import type { Step } from '../../src/testing/index.js';
import { refusalOf } from '../refusal.js';
import { AnswersScene, nodes } from './answers-scene.js';
import { type Answer, answers, reactionTo, type Subject, subjects } from './answers-table.js';

const lost: Step = { breakOff: 'after' };

/** Scripted steps before the calls of a healthy driver. */
const positions: { name: string; steps(answer: Answer): Step[]; isWorkDone: boolean }[] = [
  { name: 'before the work', steps: ({ code, text }) => [{ code, text }], isWorkDone: false },
  { name: 'after the work', steps: ({ code, text }) => [{ code, text, work: true }], isWorkDone: true },
  { name: 'after a lost answer', steps: ({ code, text }) => [lost, { code, text }], isWorkDone: true },
];

const endOf = ({ code }: Step): string => code ?? 'broken';

describe('answers to calls of volumes', () => {
  let scene: AnswersScene;
  before(async () => {
    scene = await AnswersScene.start();
    await scene.furnish();
  });
  after(() => scene.end());

  async function begun({ prepare }: Subject): Promise<string> {
    const id = scene.begin();
    await prepare(scene, id);
    return id;
  }

  for (const subject of subjects) {
    const { rpc, name } = subject;

    for (const answer of answers) {
      for (const { name: position, steps, isWorkDone } of positions) {
        const reaction = reactionTo(rpc, answer);
        // Only a lying driver answers NOT_FOUND to the removal of a thing that exists.
        if (reaction === 'taken for done' && !isWorkDone) continue;

        it(`V11 ${rpc} answered ${answer.name} ${position}: ${name} is ${reaction}`, async () => {
          const id = await begun(subject);
          const script = steps(answer);
          for (const step of script) scene.driver.script(rpc, step);
          const told = script.map(endOf);
          if (reaction === 'failed') {
            const refusal = await refusalOf(subject.ask(scene, id));
            expect(refusal).to.deep.include({ code: 'CSI_ERROR', rpc, grpcCode: answer.code, final: true });
            const volume = await scene.runtime.volumes.get({ id });
            expect(subject.hasFailed(volume), JSON.stringify(volume)).to.equal(true);
            expect(subject.message(volume)).to.equal(`${rpc}: ${answer.code}: ${answer.text}`);
            expect(await scene.isAtRest(id), 'it makes no call by itself').to.equal(true);
            expect(scene.ends(rpc)).to.deep.equal(told);
            await scene.runtime.volumes.retry({ id });
            await scene.becomes(id, subject.isDone);
          } else {
            await subject.ask(scene, id);
          }
          expect(subject.isDone(await scene.runtime.volumes.get({ id }))).to.equal(true);
          expect(scene.ends(rpc)).to.deep.equal(reaction === 'taken for done' ? told : [...told, 'OK']);
          await scene.checkSettled(id, subject.isReal);
        });
      }
    }

    for (const moment of ['before', 'after'] as const) {
      it(`V11 ${rpc}, connection broken ${moment} its work: ${name} is called again`, async () => {
        const id = await begun(subject);
        scene.driver.script(rpc, { breakOff: moment }, { times: 2 });
        await subject.ask(scene, id);
        expect(scene.ends(rpc)).to.deep.equal(['broken', 'broken', 'OK']);
        await scene.checkSettled(id, subject.isReal);
      });
    }
  }
});

describe('call refused because of an unknown attachment', () => {
  // Needs its own scene: the reconciler compares a plugin at most once a minute.
  let scene: AnswersScene;
  before(async () => {
    scene = await AnswersScene.start();
    await scene.furnish();
  });
  after(() => scene.end());

  it('V20 ControllerPublishVolume: the attachment is found and removed, then the volume is published', async () => {
    const id = scene.begin();
    const { csiId = '' } = await scene.runtime.volumes.create(scene.spec(id));
    const mode = { mode: 'SINGLE_NODE_WRITER' } as const;
    const volumeCapability = { mount: {}, accessMode: mode };
    await scene.client.controllerPublishVolume({ volumeId: csiId, nodeId: nodes.b, volumeCapability });
    await scene.runtime.volumes.publish({ id }, 'a');
    expect(scene.real().map(({ attached }) => attached)).to.deep.equal([[nodes.a]]);
    expect(scene.ends('ControllerPublishVolume')).to.include('FAILED_PRECONDITION');
    expect(scene.ends('ControllerUnpublishVolume')).to.deep.equal(['OK']);
  });
});
