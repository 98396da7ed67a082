/**
 * The fault matrix of mounts and allocs. A run without faults tells which commits and calls there are; each of them is a
 * cell for everyone who can be killed there, before it, after it, and with its answer lost. All of the cells with
 * `MATRIX=whole`, of those the ones whose titles match `CELLS`; else some, which `SEED` chooses. What is a step: kill-mounts-agent.ts
 */
import { expect } from 'chai';
import { Test } from 'mocha';
import type { RpcName } from '../../src/csi/answers.js';
import { rpcs } from '../../src/csi/generated/plain.js';
import type { Step } from '../../src/testing/index.js';
import type { MatrixMoment, MatrixStep } from './kill-mounts-agent.js';
import { type Cell, cellsOf, Dealer, type Phase, titleOf } from './kill-mounts-cells.js';
import { mountPathsBelow, readFrom, treeBelow, type Used, writeTo } from './kill-mounts-host.js';
import { comer, keeper, MatrixScene, type VolumeId } from './kill-mounts-scene.js';

const isWhole = process.env.MATRIX === 'whole';
const isWanted = (title: string): boolean => new RegExp(process.env.CELLS ?? '').test(title);
const seed = Number(process.env.SEED ?? 20261121);
/** The record of calls is judged as a whole: a scene that is used for long has a long one. */
const cellsPerScene = 40;

/** What the host shows where nothing is under way. */
interface Sight {
  mounts: string[];
  tree: string[];
}

/** The cells of one phase, for each of some pairs of volumes. */
export function faultMatrix(phase: Phase, pairs: VolumeId[][]): void {
  const dealer = new Dealer(seed);
  for (const ids of pairs) ofPair(phase, ids, dealer);
}

function ofPair(phase: Phase, ids: VolumeId[], dealer: Dealer): void {
  const suite = describe(`${phase} of an alloc with ${ids.join(' and ')}`, function () {
    this.timeout(90_000);
    let stage: Stage | undefined;

    before(async () => {
      stage = await Stage.start(ids);
      const steps = await stage.recorded(phase);
      const cells = isWhole ? cellsOf(phase, steps) : dealer.deal(phase, steps);
      for (const cell of cells.filter((one) => isWanted(titleOf(one))))
        suite.addTest(
          new Test(titleOf(cell), async () => {
            if (!stage || stage.cells >= cellsPerScene) {
              await stage?.end();
              stage = await Stage.start(ids);
            }
            const present = stage;
            stage = undefined; // one in which something went wrong is not gone on with
            try {
              await present.play(cell);
              stage = present;
            } finally {
              if (!stage) await present.end();
            }
          }),
        );
    });
    after(() => stage?.end());

    it('without a fault it is done as it is to be', () => {
      expect(stage).not.to.equal(undefined);
    });
  });
}

class Stage {
  cells = 0;
  readonly #scene: MatrixScene;
  readonly #empty: Sight;
  #full: Sight | undefined;
  /** What the alloc has written last, by volume; absent: nothing yet. */
  #written = new Map<string, string>();

  readonly #plays: Record<Phase, (cell: Cell) => Promise<void>> = {
    prepare: (cell) => this.#playPrepare(cell),
    abandon: (cell) => this.#playAbandon(cell),
    release: (cell) => this.#playRelease(cell),
  };

  private constructor(scene: MatrixScene) {
    this.#scene = scene;
    this.#empty = this.#sight();
  }

  static async start(ids: VolumeId[]): Promise<Stage> {
    const scene = await MatrixScene.start(ids);
    const stage = new Stage(scene);
    try {
      const used = await scene.prepare();
      stage.#full = stage.#sight();
      await stage.#use(used);
      await scene.release();
      await stage.#checkReleased();
      return stage;
    } catch (error) {
      await scene.end();
      throw error;
    }
  }

  /** What is done where nothing goes wrong. */
  async recorded(phase: Phase): Promise<MatrixStep[]> {
    const scene = this.#scene;
    if (phase === 'release') await scene.prepare();
    await scene.arm(null);
    await (phase === 'release' ? scene.release() : scene.prepare());
    const steps = await scene.steps();
    if (phase !== 'release') await scene.release();
    return steps;
  }

  async play(cell: Cell): Promise<void> {
    this.cells += 1;
    await this.#plays[cell.phase](cell);
    expect(this.#scene.driver.violations().map(({ text }) => text)).to.deep.equal([]);
    expect(this.#scene.reader.faults, 'what the keeper met').to.deep.equal([]);
  }

  async end(): Promise<void> {
    await this.#scene.end();
  }

  async #playPrepare(cell: Cell): Promise<void> {
    const scene = this.#scene;
    await this.#strike(cell, () => scene.prepare());
    await scene.keep();
    const used = await scene.prepare();
    await this.#checkPrepared();
    await this.#use(used);
    await scene.release();
    await this.#checkReleased();
  }

  async #playAbandon(cell: Cell): Promise<void> {
    const scene = this.#scene;
    await this.#strike(cell, () => scene.prepare());
    await scene.keep();
    await scene.release();
    await this.#checkReleased();
    await this.#use(await scene.prepare());
    await this.#checkPrepared();
    await scene.release();
    await this.#checkReleased();
  }

  async #playRelease(cell: Cell): Promise<void> {
    const scene = this.#scene;
    await this.#use(await scene.prepare());
    await this.#strike(cell, () => scene.release());
    await scene.keep();
    await scene.release();
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

  /** Has it happen, and shows that it did. */
  async #strike(cell: Cell, work: () => Promise<unknown>): Promise<void> {
    const { driver } = this.#scene;
    const { moment, step } = plotOf(cell);
    if (step) await this.#script(cell, step);
    await this.#scene.arm(moment);
    const [outcome, late] = await Promise.all([
      this.#scene.through(cell.dying, work),
      cell.when === 'late' ? this.#scene.killAgentDuring(cell.step.what) : undefined,
    ]);
    if (late !== undefined) {
      driver.release(late);
      await driver.waitForEnd(late);
    }
    const meant = cell.dying.includes('agent') ? 'agent died' : 'answered';
    expect(outcome, 'the cell was met').to.equal(meant);
    expect(driver.stepsLeft, 'the call was met').to.equal(0);
  }

  async #script({ step: { of, what, nth } }: Cell, step: Step): Promise<void> {
    if (!isRpc(what) || nth !== 1) throw new Error(`${what} (${nth}) is no call that can be scripted`);
    const { volumes } = await this.#scene.look();
    const volumeId = volumes.find(({ key }) => key.id === of)?.csiId;
    this.#scene.driver.script(what, step, { where: { volumeId } });
  }

  /** What it wrote before is there, and it writes something else. */
  async #use(used: (Used & { name: string })[]): Promise<void> {
    expect(used.map(({ name }) => name)).to.have.members(this.#scene.ids);
    for (const { name, ...volume } of used) {
      const written = this.#written.get(name);
      if (written !== undefined) expect(readFrom(volume), `the data of ${name}`).to.equal(written);
      const text = `written in cell ${this.cells}, when ${this.#scene.driver.calls().length} calls were made`;
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

  async #check(sight: Sight | undefined, held: VolumeId[], state: string | undefined): Promise<void> {
    const { mounts, allocs, volumes } = await this.#scene.look();
    // Staging a device, this driver mounts nothing.
    const believed = mounts.flatMap(({ stagingPath, capability, users }) => [
      ...(stagingPath === undefined || capability?.attachmentMode === 'block-device' ? [] : [stagingPath]),
      ...users.map(({ hostPath }) => hostPath),
    ]);
    expect(this.#sight().mounts, 'mounts in the kernel and believed mounts').to.deep.equal(believed.sort());
    expect(this.#sight(), 'what the host shows').to.deep.equal(sight);
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

  #sight(): Sight {
    const { csiDir } = this.#scene;
    return { mounts: mountPathsBelow(csiDir), tree: treeBelow(csiDir) };
  }
}

const isRpc = (name: string): name is RpcName => name in rpcs;

/** How a cell is brought about: by the agent's own hand, by the driver's script, or by both. */
function plotOf({ step, when, dying }: Cell): { moment: MatrixMoment | null; step?: Step } {
  const isOnlyDriver = dying.length === 1 && dying[0] === 'driver';
  if (step.kind === 'call' && when === 'before' && isOnlyDriver) return { moment: null, step: { die: 'before' } };
  if (when === 'late') return { moment: null, step: { hang: 'before', goOn: true } };
  if (when !== 'lost') return { moment: { step, when, dying } };
  const lost: Step = dying.includes('driver') ? { die: 'after' } : { breakOff: 'after' };
  return { moment: dying.includes('agent') ? { step, when: 'after', dying: ['agent'] } : null, step: lost };
}
