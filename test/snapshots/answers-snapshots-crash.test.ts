/**
 * Kills the runtime at each point of a snapshot's call: around the commit of the request, during the call, around the commit
 * of the answer. The next runtime removes snapshots in doubt and creates them again. `npm test`
 * plays a third of the points.
 */
import { expect } from 'chai';
import type { RpcName } from '../../src/csi/answers.js';
import type { Commit } from '../../src/engine/store.js';
import { simulatedClock } from '../../src/testing/index.js';
import { thirdOf } from '../support/third.js';
import { eventually } from '../until.js';
import { AnswersScene } from '../volumes/answers-scene.js';
import { ofGroups, ofOne, sources } from './snapshot-variants.js';

/** Moment of a kill: around the commit of an event, or during a call. */
interface Death {
  where: string;
  event?: string;
  done?: boolean;
  /** For a kill during a call: whether the driver completes its work. */
  goesOn?: boolean;
}

/** Lists the moments: around the request of a call, during it, and around its answer. */
const deaths = (request: string, effect: string): Death[] => [
  { where: 'before the request is committed', event: request, done: false },
  { where: 'after the request is committed', event: request, done: true },
  { where: 'during the call, work not done', goesOn: false },
  { where: 'during the call, work done', goesOn: true },
  { where: 'before the answer OK is committed', event: `xstate.done.actor.${effect}`, done: false },
  { where: 'after the answer OK is committed', event: `xstate.done.actor.${effect}`, done: true },
];

const isOf =
  (address: string, type: string | undefined) =>
  (commit: Commit): boolean =>
    commit.address === address && JSON.parse(commit.journal).event?.type === type;

const isUnasked = ({ event = '', done }: Death): boolean => event.startsWith('snapshot.') && !done;
const endsBefore = ({ event = '', goesOn }: Death): string[] => {
  if (event.startsWith('snapshot.')) return [];
  return [goesOn === false ? 'gone' : 'OK'];
};
const isKnown = ({ event = '', done }: Death): boolean => event.startsWith('xstate.') && done === true;

describe('snapshots whose runtime is killed', () => {
  let scene: AnswersScene;
  /**
   * Clock that moves only while no call is under way: a compensating call waits for the deadline of the call before it.
   */
  const clock = simulatedClock();
  const pass = (): Promise<void> => clock.advance(scene.isCalled ? 0 : 10_000);

  async function passing<T>(what: string, work: Promise<T>): Promise<T> {
    let isOver = false;
    work.finally(() => {
      isOver = true;
    });
    await eventually(what, async () => {
      await pass();
      return isOver;
    });
    return work;
  }

  before(async () => {
    scene = await AnswersScene.start({ clock });
    await scene.furnish();
    for (const { id } of sources) await scene.runtime.volumes.create(scene.spec(id));
  });
  after(() => scene.end());

  for (const { creates, deletes, of, create, address, real, believed } of [ofOne, ofGroups]) {
    const get = (id: string) => of(scene).get({ id });
    const becomes = (id: string, state: string | undefined): Promise<void> =>
      eventually(`${id} is ${state}`, async () => {
        await pass();
        return (await get(id))?.state === state;
      });

    /** Kills the runtime at that moment of the call, then starts the next one. */
    async function dies(id: string, rpc: RpcName, death: Death, work: () => Promise<unknown>): Promise<void> {
      const { event, done = true, goesOn } = death;
      if (event === undefined) scene.driver.script(rpc, { hang: 'before', ...(goesOn && { goOn: true }) });
      else scene.cutAt({ is: isOf(address(id), event), done });
      work().catch(() => {}); // A killed runtime never answers.
      if (event !== undefined) {
        await passing(death.where, scene.whenCut);
        await scene.succeed();
        return;
      }
      const { number } = await passing(death.where, scene.called(rpc));
      await scene.succeed(async () => {
        if (!goesOn) return;
        scene.driver.release(number);
        expect((await scene.driver.waitForEnd(number)).end?.work).to.equal('OK');
      });
    }

    /** Checks that the driver has only this snapshot, and nothing after its deletion. */
    async function settles(id: string): Promise<void> {
      await becomes(id, 'ready');
      const snapshot = await get(id);
      expect(real(scene)).to.deep.equal(snapshot && believed(snapshot));
      await of(scene).delete({ id });
      isGone();
    }

    function isGone(): void {
      expect(real(scene)).to.deep.equal([]);
      scene.checkCalls();
    }

    for (const death of thirdOf(deaths('snapshot.create', 'createSnapshot'))) {
      const outcome = isUnasked(death) ? 'no snapshot' : isKnown(death) ? 'kept' : 'created again';

      it(`V1 V4 ${creates}, killed ${death.where}: ${outcome}`, async () => {
        const id = scene.begin();
        await dies(id, creates, death, () => create(scene, id));
        if (isUnasked(death)) {
          expect(await get(id)).to.equal(undefined);
          await create(scene, id);
        }
        await becomes(id, 'ready');
        const isAnew = !isUnasked(death) && !isKnown(death);
        const after = isUnasked(death) ? ['OK'] : isAnew ? ['OK', 'OK'] : [];
        expect(scene.ends(creates)).to.deep.equal([...endsBefore(death), ...after]);
        expect(scene.ends(deletes)).to.deep.equal(isAnew ? ['OK'] : []);
        await settles(id);
      });
    }

    for (const death of thirdOf(deaths('snapshot.delete', 'deleteSnapshot'))) {
      it(`V13 ${deletes}, killed ${death.where}: ${isUnasked(death) ? 'stays' : 'deleted'}`, async () => {
        const id = scene.begin();
        await create(scene, id);
        await dies(id, deletes, death, () => of(scene).delete({ id }));
        if (isUnasked(death)) {
          expect(await get(id)).to.include({ state: 'ready' });
          await of(scene).delete({ id });
        }
        await becomes(id, undefined);
        expect(scene.ends(deletes)).to.deep.equal([...endsBefore(death), ...(isKnown(death) ? [] : ['OK'])]);
        isGone();
      });
    }

    // Skips the moments of the request: this call follows from the answer to another call.
    for (const death of thirdOf(deaths('xstate.done.actor.createSnapshot', 'removeUntrusted').slice(2))) {
      // That commit also requests the next call, which may or may not have been sent.
      const rounds = isKnown(death) ? ['OK', 'OK', 'OK'] : ['OK', 'OK'];
      const outcome = `created again ${isKnown(death) ? 'twice' : 'once'}`;

      it(`V4 ${deletes} of a snapshot in doubt, killed ${death.where}: ${outcome}`, async () => {
        const id = scene.begin();
        scene.driver.script(creates, { breakOff: 'after' });
        await dies(id, deletes, death, () => create(scene, id));
        await becomes(id, 'ready');
        expect(scene.ends(creates)).to.deep.equal(['broken', ...rounds]);
        expect(scene.ends(deletes)).to.deep.equal([...endsBefore(death), 'OK']);
        await settles(id);
      });
    }

    it(`V4 ${creates}, killed during two calls whose work is done: one snapshot in the end`, async () => {
      const id = scene.begin();
      const [, , , death = { where: '' }] = deaths('', '');
      await dies(id, creates, death, () => create(scene, id));
      await dies(id, deletes, death, async () => undefined);
      await becomes(id, 'ready');
      expect(scene.ends(creates)).to.deep.equal(['OK', 'OK', 'OK']);
      expect(scene.ends(deletes)).to.deep.equal(['OK', 'OK']);
      await settles(id);
    });
  }
});
