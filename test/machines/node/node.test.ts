/** The machine of one node, under plain XState; its effects end when the test says so. */
import { expect } from 'chai';
import { type Actor, createActor, fromPromise } from 'xstate';
import type { AnswerParams } from '../../../machines/kit/host.js';
import { type NodeChanged, type NodeEvent, type NodePlugin, nodeMachine } from '../../../machines/node/node.js';
import { anyStamp, Runs } from '../stamped.js';

const disk: NodePlugin = { name: 'disk', nodeId: 'csi-a' };
const net: NodePlugin = { name: 'net', nodeId: 'n-a', maxVolumes: 4 };

class Scene {
  readonly told: NodeChanged[] = [];
  readonly answers: AnswerParams[] = [];
  readonly timer = new Runs<{ id: string }, void>();
  readonly releases = new Runs<{ id: string; reason: string }, void>();
  /** Volumes that a fence could not read. */
  unread: string[] | undefined;
  readonly #actor: Actor<typeof nodeMachine>;

  constructor() {
    const machine = nodeMachine.provide({
      actors: {
        fenceTimer: fromPromise(this.timer.begin),
        releaseVolumes: fromPromise(async (run: Parameters<typeof this.releases.begin>[0]) => {
          await this.releases.begin(run);
          return this.unread;
        }),
      },
      actions: { answer: (_, params: AnswerParams) => void this.answers.push(params) },
    });
    this.#actor = createActor(machine, { input: { id: 'a' } });
    this.#actor.on('*', (event) => this.told.push(event));
    this.#actor.start();
  }

  get state(): unknown {
    return this.#actor.getSnapshot().value;
  }

  get context() {
    return this.#actor.getSnapshot().context;
  }

  get isAbsent(): boolean {
    return this.#actor.getSnapshot().hasTag('absent');
  }

  send(...events: NodeEvent[]): this {
    for (const event of events) this.#actor.send({ ...event, ...anyStamp, at: 7 });
    return this;
  }

  report(...plugins: NodePlugin[]): this {
    return this.send({ type: 'node.report', plugins });
  }

  /** The effect under way ends, and its end is taken. */
  async end(runs: Runs<{ id: string; reason: string }, void> | Runs<{ id: string }, void>): Promise<void> {
    runs.last.resolve();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('the machine of a node', () => {
  it('N1 a report replaces what was reported, as a whole', () => {
    const scene = new Scene().report(disk, net).report(net);
    expect(scene.state).to.equal('ready');
    expect(scene.context.plugins).to.deep.equal([net]);
    expect(scene.told).to.deep.equal([
      { type: 'reported', id: 'a', plugins: [disk, net] },
      { type: 'reported', id: 'a', plugins: [net] },
    ]);
  });

  it('N1 the same again tells nothing', () => {
    const scene = new Scene().report(disk).report({ nodeId: 'csi-a', name: 'disk' });
    expect(scene.told).to.have.length(1);
  });

  it('N3 down: keeps its plugins and waits; a report ends the wait', () => {
    const scene = new Scene().report(disk).send({ type: 'node.down' });
    expect(scene.state).to.deep.equal({ down: 'waiting' });
    expect(scene.context.plugins).to.deep.equal([disk]);
    scene.report(disk);
    expect(scene.state).to.equal('ready');
    expect(scene.timer.last.signal.aborted).to.equal(true);
  });

  it('N3 down for too long: fenced, on record with reason and time, done once all are told', async () => {
    const scene = new Scene().report(disk).send({ type: 'node.down' });
    await scene.end(scene.timer);
    expect(scene.state).to.deep.equal({ down: 'fencing' });
    expect(scene.context.fence).to.include({ reason: 'it was down for too long', isDone: false });
    await scene.end(scene.releases);
    expect(scene.state).to.deep.equal({ down: 'fenced' });
    expect(scene.context.fence).to.include({ isDone: true });
    expect(scene.told.map(({ type }) => type)).to.deep.equal(['reported', 'down', 'fenced']);
  });

  it('N3 back while its volumes are being told: ready only after that', async () => {
    const scene = new Scene().report(disk).send({ type: 'node.fence', reason: 'burnt' }).report(net);
    expect(scene.state).to.deep.equal({ down: 'fencing' });
    expect(scene.releases.last.signal.aborted).to.equal(false);
    await scene.end(scene.releases);
    expect(scene.state).to.equal('ready');
    expect(scene.context).to.deep.include({ plugins: [net], fence: null, isBack: false });
    expect(scene.told.map(({ type }) => type)).to.deep.equal(['reported', 'fenced', 'reported']);
  });

  for (const last of [{ type: 'node.down' }, { type: 'node.fence', reason: 'again' }] as const) {
    it(`N3 back while its volumes are being told, then ${last.type}: it is not back`, async () => {
      const scene = new Scene().report(disk).send({ type: 'node.fence', reason: 'burnt' }).report(net).send(last);
      await scene.end(scene.releases);
      expect(scene.state).to.deep.equal({ down: 'fenced' });
      expect(scene.releases.all).to.have.length(1);
    });
  }

  it('N3, 34.15 fenced again while a volume could not be read: its volumes are told once more', async () => {
    const scene = new Scene().report(disk).send({ type: 'node.fence', reason: 'burnt' });
    scene.unread = ['default/data'];
    await scene.end(scene.releases);
    expect(scene.context.fence).to.deep.include({ isDone: true, unread: ['default/data'] });
    scene.unread = undefined;
    scene.send({ type: 'node.fence', reason: 'again' });
    await scene.end(scene.releases);
    expect(scene.context.fence).to.deep.include({ isDone: true, reason: 'again' }).and.not.have.property('unread');
  });

  it('N3 fenced twice: told once, the first reason stands', async () => {
    const scene = new Scene().report(disk).send({ type: 'node.fence', reason: 'burnt' });
    scene.send({ type: 'node.fence', reason: 'drowned' });
    await scene.end(scene.releases);
    scene.send({ type: 'node.fence', reason: 'drowned' });
    expect(scene.context.fence).to.deep.equal({ reason: 'burnt', at: 7, isDone: true });
    expect(scene.releases.all).to.have.length(1);
    expect(scene.told.map(({ type }) => type)).to.deep.equal(['reported', 'fenced']);
  });

  it('N3 removed: its volumes are told, then nothing is left', async () => {
    const scene = new Scene().report(disk).send({ type: 'node.remove' });
    expect(scene.state).to.deep.equal({ gone: 'releasing' });
    expect(scene.context.plugins).to.deep.equal([]);
    expect(scene.releases.last.input).to.deep.equal({ id: 'a', reason: 'the node was taken out' });
    await scene.end(scene.releases);
    expect(scene.isAbsent).to.equal(true);
    expect(scene.told.map(({ type }) => type)).to.deep.equal(['reported', 'gone']);
  });

  it('N3 a report before its volumes hear of the removal brings the node back; a second removal removes it', async () => {
    const back = new Scene().report(disk).send({ type: 'node.remove' }).report(net);
    await back.end(back.releases);
    expect(back.state).to.equal('ready');
    expect(back.context).to.deep.include({ plugins: [net], fence: null });
    const gone = new Scene().report(disk).send({ type: 'node.remove' }).report(net).send({ type: 'node.remove' });
    await gone.end(gone.releases);
    expect(gone.isAbsent).to.equal(true);
  });

  for (const last of [{ type: 'node.down' }, { type: 'node.fence', reason: 'again' }] as const) {
    it(`N3 removed, reports before its volumes are told, then ${last.type}: it is not back`, async () => {
      const scene = new Scene().report(disk).send({ type: 'node.remove' }).report(net).send(last);
      expect(scene.answers).to.deep.equal([]);
      expect(scene.context).to.deep.include({ plugins: [], isBack: false });
      await scene.end(scene.releases);
      expect(scene.isAbsent).to.equal(true);
      expect(scene.releases.all).to.have.length(1);
      expect(scene.told.map(({ type }) => type)).to.deep.equal(['reported', 'gone']);
    });
  }

  it('N1 N3 a repeated report does not undo what was said of the node since; a later report does', async () => {
    const mark = { epoch: 2, number: 3 };
    const said = (epoch: number, number: number): NodeEvent => ({
      type: 'node.report',
      plugins: [disk],
      mark: { epoch, number },
    });
    const down = new Scene().send(said(2, 3), { type: 'node.down' });
    expect(down.send(said(2, 3), said(2, 2), said(1, 9)).state).to.deep.equal({ down: 'waiting' });
    expect(down.context.heard).to.deep.equal(mark);
    expect(down.send(said(2, 4)).state).to.equal('ready');
    // What says nothing new is heard all the same.
    const same = new Scene().report(disk).send(said(2, 3), { type: 'node.fence', reason: 'x' }, said(2, 3));
    await same.end(same.releases);
    expect(same.state).to.deep.equal({ down: 'fenced' });
    const restarted = new Scene().send(said(2, 3), { type: 'node.fence', reason: 'x' }, said(3, 1));
    await restarted.end(restarted.releases);
    expect(restarted.state).to.equal('ready');
  });

  it('N3 what is not there, or on its way out, can’t be down or fenced', () => {
    const nobody = new Scene().send(
      { type: 'node.down' },
      { type: 'node.fence', reason: 'x' },
      { type: 'node.remove' },
    );
    expect(nobody.answers.map((answer) => 'error' in answer && answer.error.code)).to.deep.equal(
      Array(3).fill('NODE_NOT_FOUND'),
    );
    const leaving = new Scene().report(disk).send({ type: 'node.remove' }, { type: 'node.fence', reason: 'x' });
    expect(leaving.answers).to.have.length(1);
    expect(leaving.state).to.deep.equal({ gone: 'releasing' });
  });
});
