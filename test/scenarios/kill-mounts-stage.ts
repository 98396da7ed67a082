/**
 * One agent, one driver, and the cells of the fault matrix that are played with them, one after the other: each begins and
 * ends with nothing under way. What there are: kill-mounts-cells.ts
 */
import { expect } from 'chai';
import type { RpcName } from '../../src/csi/answers.js';
import { rpcs } from '../../src/csi/generated/plain.js';
import type { Step } from '../../src/testing/index.js';
import { eventually } from '../until.js';
import type { MatrixMoment, MatrixStep } from './kill-mounts-agent.js';
import type { Cell, Phase } from './kill-mounts-cells.js';
import { countDevicesBelow, mountPathsBelow, readFrom, treeBelow, type Used, writeTo } from './kill-mounts-host.js';
import { comer, type DrivenBy, keeper, MatrixScene, type VolumeId } from './kill-mounts-scene.js';

/** What the host shows where nothing is under way. */
interface Observation {
  mounts: string[];
  tree: string[];
  devices: number;
}

/**
 * Claims that are taken in one turn share a commit, and a step that takes a second has one of its own: only the first claim is
 * reported in every run.
 */
const isAlwaysMet = ({ what, nth }: MatrixStep, _: number, all: MatrixStep[]): boolean =>
  what !== 'alloc.progress' || (nth === 1 && all.some((one) => one.what === 'alloc.prepare'));

export class Stage {
  cells = 0;
  readonly steps: MatrixStep[] = [];
  readonly #scene: MatrixScene;
  readonly #empty: Observation;
  #full: Observation | undefined;
  #texts = 0;
  /** What the alloc has written last, by volume; absent: nothing yet. */
  #written = new Map<string, string>();

  readonly #plays: Record<Phase, (cell: Cell) => Promise<void>> = {
    prepare: (cell) => this.#playPrepare(cell),
    abandon: (cell) => this.#playAbandon(cell),
    release: (cell) => this.#playRelease(cell),
  };

  private constructor(scene: MatrixScene) {
    this.#scene = scene;
    this.#empty = this.#observation();
  }

  /** @param phase of which the steps are recorded, as they are where nothing goes wrong */
  static async start(phase: Phase, ids: VolumeId[], drivenBy: DrivenBy): Promise<Stage> {
    const scene = await MatrixScene.start(ids, drivenBy);
    const stage = new Stage(scene);
    try {
      const used = await stage.#recorded(phase === 'release' ? [] : stage.steps, () => scene.prepare());
      stage.#full = stage.#observation();
      await stage.#use(used);
      await stage.#recorded(phase === 'release' ? stage.steps : [], () => scene.release());
      await stage.#checkReleased();
      await scene.beImpatient();
      return stage;
    } catch (error) {
      await scene.end();
      throw error;
    }
  }

  async #recorded<T>(steps: MatrixStep[], work: () => Promise<T>): Promise<T> {
    await this.#scene.arm(null);
    const done = await work();
    steps.push(...(await this.#scene.steps()).filter(isAlwaysMet));
    return done;
  }

  async play(cell: Cell): Promise<void> {
    this.cells += 1;
    await this.#plays[cell.phase](cell);
    expect(this.#scene.driver?.violations().map(({ text }) => text) ?? []).to.deep.equal([]);
    this.#scene.reader.look();
    expect(this.#scene.reader.faults, 'what the keeper met').to.deep.equal([]);
  }

  async end(): Promise<void> {
    await this.#scene.end();
  }

  async #playPrepare(cell: Cell): Promise<void> {
    const scene = this.#scene;
    await this.#end(await this.#strike(cell, () => scene.prepare()));
    const used = await scene.prepare();
    await scene.keep();
    await this.#checkPrepared();
    await this.#use(used);
    await scene.release();
    await this.#checkReleased();
  }

  async #playAbandon(cell: Cell): Promise<void> {
    const scene = this.#scene;
    const late = await this.#strike(cell, () => scene.prepare());
    const released = scene.release();
    // What may still be done late is undone after it: not before nobody can wait for it any more.
    if (late !== undefined) await Promise.all([released, this.#leaves().then(() => this.#end(late))]);
    await released;
    await scene.keep();
    await this.#checkReleased();
    await this.#use(await scene.prepare());
    await this.#checkPrepared();
    await scene.release();
    await this.#checkReleased();
  }

  async #playRelease(cell: Cell): Promise<void> {
    const scene = this.#scene;
    await this.#use(await scene.prepare());
    await this.#end(await this.#strike(cell, () => scene.release()));
    await scene.release();
    await scene.keep();
    await this.#checkReleased();
    await this.#use(await scene.prepare());
    await this.#checkPrepared();
    await scene.release();
    await this.#checkReleased();
    for (const id of scene.ids) {
      if (id === 'shared') continue; // the keeper has it
      await scene.delete(id);
      await scene.create(id);
      this.#written.delete(id);
    }
  }

  /** Has it happen, and shows that it did. Resolves with the number of a call that goes on without anybody who waits for it. */
  async #strike(cell: Cell, work: () => Promise<unknown>): Promise<number | undefined> {
    const scene = this.#scene;
    const { moment, step } = plotOf(cell);
    if (step) await this.#script(cell, step);
    await scene.arm(moment);
    const [outcome, late] = await Promise.all([
      scene.through(cell.dying, work),
      cell.when === 'late' ? scene.killAgentDuring(cell.step.what) : undefined,
    ]);
    expect(outcome, 'the cell was met').to.equal(cell.dying.includes('agent') ? 'agent died' : 'answered');
    if (outcome === 'answered') expect(await scene.isMet(), 'the moment was met').to.equal(true);
    expect(scene.driver?.stepsLeft ?? 0, 'the call was met').to.equal(0);
    return late;
  }

  /** A call that goes on late does its work, and ends. */
  async #end(late: number | undefined): Promise<void> {
    if (late === undefined) return;
    this.#scene.driver?.release(late);
    await this.#scene.driver?.waitForEnd(late);
  }

  /** Resolves when the alloc that is released wants nothing any more. */
  async #leaves(): Promise<void> {
    await eventually('it is on its way out', async () => {
      const { allocs, mounts } = await this.#scene.look();
      const isWanted = mounts.some(({ users }) =>
        users.some(({ allocId, state }) => allocId === comer && (state === 'wanted' || state === 'published')),
      );
      return !isWanted && allocs.every(({ allocId, state }) => allocId !== comer || state === 'releasing');
    });
  }

  async #script({ step: { of, what, nth } }: Cell, step: Step): Promise<void> {
    if (!isRpc(what) || nth !== 1) throw new Error(`${what} (${nth}) is no call that can be scripted`);
    const { volumes } = await this.#scene.look();
    const volumeId = volumes.find(({ key }) => key.id === of)?.csiId;
    this.#scene.driver?.script(what, step, { where: { volumeId } });
  }

  /** What it wrote before is there, and it writes something else. */
  async #use(used: (Used & { name: string })[]): Promise<void> {
    expect(used.map(({ name }) => name)).to.have.members(this.#scene.ids);
    for (const { name, ...volume } of used) {
      const written = this.#written.get(name);
      if (written !== undefined) expect(readFrom(volume), `the data of ${name}`).to.equal(written);
      this.#texts += 1;
      const text = `text ${this.#texts}, written in cell ${this.cells}`;
      writeTo(volume, text);
      this.#written.set(name, text);
    }
  }

  async #checkPrepared(): Promise<void> {
    await this.#check(this.#full, this.#scene.ids, 'prepared');
  }

  async #checkReleased(): Promise<void> {
    await this.#check(this.#empty, [], undefined);
  }

  async #check(observation: Observation | undefined, held: VolumeId[], state: string | undefined): Promise<void> {
    const { mounts, allocs, volumes } = await this.#scene.look();
    // Staging a device, this driver mounts nothing.
    const believed = mounts.flatMap(({ stagingPath, capability, users }) => [
      ...(stagingPath === undefined || capability?.attachmentMode === 'block-device' ? [] : [stagingPath]),
      ...users.map(({ hostPath }) => hostPath),
    ]);
    expect(this.#observation().mounts, 'mounts in the kernel and believed mounts').to.deep.equal(believed.sort());
    expect(this.#observation(), 'what the host shows').to.deep.equal(observation);
    const states = new Set(mounts.flatMap(({ users }) => users.map((user) => user.state)));
    expect([...states], 'states of mounts').to.deep.equal(['published']);
    const found = Object.fromEntries(allocs.map((alloc) => [alloc.allocId, alloc.state]));
    expect(found, 'allocs').to.deep.equal({ [keeper]: 'prepared', ...(state && { [comer]: state }) });
    const claims = Object.fromEntries(
      volumes.map(({ key, claims: own, waiting }) => [
        key.id,
        [
          ...own.map((one) => `${one.allocId} ${one.state}`),
          ...waiting.map(({ allocId }) => `${allocId} waits`),
        ].sort(),
      ]),
    );
    const expected = Object.fromEntries(
      volumes.map(({ key: { id } }) => [
        id,
        [
          ...(held.some((one) => one === id) ? [`${comer} taken`] : []),
          ...(id === 'shared' ? [`${keeper} taken`] : []),
        ],
      ]),
    );
    expect(claims, 'claims').to.deep.equal(expected);
    const published = volumes.filter(({ publications }) => Object.keys(publications).length > 0);
    expect(published.map(({ key }) => key.id).sort(), 'publications').to.deep.equal(
      [...new Set(['shared', ...held])].sort(),
    );
  }

  #observation(): Observation {
    const { csiDir, folder } = this.#scene;
    return { mounts: mountPathsBelow(csiDir), tree: treeBelow(csiDir), devices: countDevicesBelow(folder) };
  }
}

const isRpc = (name: string): name is RpcName => name in rpcs;

/** How a cell is brought about: by the agent's own hand, by the driver's script, or by both. */
function plotOf({ isScripted, step, when, dying }: Cell): { moment: MatrixMoment | null; step?: Step } {
  const isOnlyDriver = dying.length === 1 && dying[0] === 'driver';
  if (isScripted && step.kind === 'call' && when === 'before' && isOnlyDriver)
    return { moment: null, step: { die: 'before' } };
  if (when === 'late') return { moment: null, step: { hang: 'before', goOn: true } };
  if (when !== 'lost') return { moment: { step, when, dying } };
  const lost: Step = dying.includes('driver') ? { die: 'after' } : { breakOff: 'after' };
  return { moment: dying.includes('agent') ? { step, when: 'after', dying: ['agent'] } : null, step: lost };
}
