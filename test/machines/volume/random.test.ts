/**
 * Random lives of a volume over a model of its plugin: requests come at any time, answers are lost, the runtime ends during
 * calls, and the plugin lists the volume on nodes where nobody asked for it. One part makes a call at a time, nothing that is
 * due is left, and nothing stays at the plugin that no record tells of. Each life tells its story when it fails.
 */
import { expect } from 'chai';
import type { AnyEventObject, AnyMachineSnapshot } from 'xstate';
import type { Capability } from '../../../machines/kit/csi-types.js';
import { expansionChart, modificationChart } from '../../../machines/volume/change.js';
import { lifecycleChart } from '../../../machines/volume/lifecycle.js';
import { beliefOf } from '../../../machines/volume/listing.js';
import { publicationChart } from '../../../machines/volume/publication.js';
import { volumeParts, volumePathOf, volumeStateOf } from '../../../machines/volume/states.js';
import type { VolumeContext, VolumeRequest } from '../../../machines/volume/types.js';
import { volumeMachine } from '../../../machines/volume/volume.js';
import { blockersOf } from '../../../machines/volume/work.js';
import { HostedMachine } from '../../../src/engine/machine/hosted-machine.js';
import { seededRandom } from '../../../src/testing/seeded-random.js';
import { checkCalls } from '../part-calls.js';
import { spec } from './volume-scene.js';

const machine = HostedMachine.of(volumeMachine);
const nodes = ['a', 'b', 'c'];
const allocs = ['web', 'db'];
const modes = ['multi-node-multi-writer', 'single-node-writer'] as const;
const capabilities: Capability[] = modes.map((accessMode) => ({ accessMode, attachmentMode: 'file-system' }));

const failed = (status: 'failed' | 'not-sent', message: string, more: object = {}): object => ({
  status,
  failure: { code: 'CSI_ERROR', message, final: false, ...more },
});
const wait = { reason: 'away', for: 'plugin' };
const mustWait = { status: 'must-wait', ...wait };

const answers: Record<string, object | null> = {
  createVolume: { id: 'vol-1', context: {}, accessibleTopology: [] },
  controllerPublish: { publishContext: {} },
  controllerExpand: { nodeExpansionRequired: false, capacityBytes: 50 },
};

class Life {
  readonly story: string[] = [];
  /** Parts that were seen calling. */
  called = 0;
  readonly #chance: () => number;
  #snapshot: AnyMachineSnapshot = machine.begin({ namespace: 'default', id: 'data', seq: 0 }).snapshot;
  #nowMs = 1_000;
  /** In truth. */
  #exists = false;
  /** In truth: by the plugin's names of nodes. */
  readonly #attached = new Set<string>();
  /** What the present call is about. */
  #csiNodeId = '';
  /** Number of the publication that the present call is about. */
  #number: number | undefined;

  constructor(seed: number) {
    this.#chance = seededRandom(seed).next;
  }

  get isOver(): boolean {
    return this.story.length > 1 && this.#state.startsWith('deleted.');
  }

  step(): void {
    const call = machine.activeInvokes(this.#snapshot)[0];
    const event = this.story.length === 0 ? this.#creation() : call && this.#is(0.5) ? this.#end(call) : this.#ask();
    this.#nowMs += this.#pick([0, 1, 60, 500, 40_000]);
    this.story.push(JSON.stringify(event));
    const { snapshot, started } = machine.step(this.#snapshot, { at: this.#nowMs, random: this.#chance(), ...event });
    // As it comes back from a store.
    this.#snapshot = machine.restore(JSON.parse(JSON.stringify(machine.persist(snapshot))));
    for (const { src, input } of started) this.#begin(src, input);
    this.#judge();
  }

  get #context(): VolumeContext {
    return this.#snapshot.context;
  }

  get #state(): string {
    return volumePathOf(this.#snapshot.value, this.#context);
  }

  #is(probability: number): boolean {
    return this.#chance() < probability;
  }

  #pick<T>(list: readonly T[]): T {
    const one = list[Math.floor(this.#chance() * list.length)];
    if (one === undefined) throw new Error('there is nothing to pick');
    return one;
  }

  #creation(): VolumeRequest {
    return { type: 'volume.create', spec: { ...spec, capabilities }, uid: 'u1', name: 'sc-u1' };
  }

  #begin(src: string, input: unknown): void {
    const { csiNodeId = '' }: { csiNodeId?: string } = input instanceof Object ? input : {};
    this.#csiNodeId = csiNodeId;
    const { work, publications } = this.#context;
    this.#number = publications[work?.nodeId ?? '']?.number;
    if (src === 'deleteVolume') expect(this.#untold(), 'attached as it is deleted').to.deep.equal([]);
  }

  /** The call takes effect. */
  #apply(call: string): void {
    if (call === 'createVolume') this.#exists = true;
    if (call === 'deleteVolume') this.#exists = false;
    if (call === 'controllerPublish') this.#attached.add(this.#csiNodeId);
    if (call === 'controllerUnpublish') this.#attached.delete(this.#csiNodeId);
  }

  #end(call: string): AnyEventObject {
    const ended = (output: object): AnyEventObject => ({ type: `xstate.done.actor.${call}`, output });
    const interrupted = { type: `xstate.error.actor.${call}`, error: { code: 'INTERRUPTED', message: 'ended' } };
    if (call === 'admission')
      return this.#pick([
        ...[ended({ status: 'admitted' }), ended(failed('not-sent', 'late'))],
        { type: 'wait.changed', ...wait },
      ]);
    const way = this.#chance();
    if (way < 0.1) return ended(mustWait);
    if (way < 0.2) return ended(failed('failed', 'repair', { answerClass: 'repair' }));
    if (way < 0.25) return ended(failed(this.#pick(['failed', 'not-sent']), 'refused', { final: true }));
    if (way < 0.3) return ended({ status: 'call-again', ...(this.#is(0.5) && { home: 'one' }) });
    if (way > 0.5 || this.#is(0.5)) this.#apply(call);
    if (way < 0.4) return interrupted;
    return ended(way < 0.5 ? failed('failed', 'lost') : { status: 'done', answer: answers[call] ?? null });
  }

  #ask(): AnyEventObject {
    const { work, claims, generation } = this.#context;
    const nodeId = this.#pick(nodes);
    const [allocId, capability] = [this.#pick(allocs), this.#pick(capabilities)];
    const csiNodeId = this.#is(0.1) ? `other-${nodeId}` : `csi-${nodeId}`;
    const wish = { nodeId, csiNodeId, capability, readOnly: false };
    const claim = { allocId, nodeId, csiNodeId, mode: 'write' as const, ...capability };
    if (work && !work.isCalling && this.#is(0.2)) {
      this.#nowMs = Math.max(this.#nowMs, work.dueAtMs);
      return { type: 'xstate.after.untilDue.volume.backing-off' };
    }
    return this.#pick<() => VolumeRequest>([
      () => ({ type: 'volume.publish', ...wish }),
      () => ({ type: 'volume.publish', ...wish, ...(this.#is(0.5) && { hold: allocId }) }),
      () => ({ type: 'volume.unpublish', nodeId }),
      () => ({ type: 'volume.claim', claim, wait: this.#is(0.5) }),
      () => ({ type: 'volume.claim-and-publish', claim, capability, readOnly: false }),
      () => ({ type: 'volume.release', allocId: claims[0]?.allocId ?? allocId }),
      () => ({ type: 'volume.unstaged', nodeId: claims[0]?.nodeId ?? nodeId, claimGeneration: generation }),
      () => ({ type: 'volume.hold-released', nodeId, allocId, generation }),
      () => ({ type: 'volume.fence', nodeId, reason: 'lost' }),
      () => ({ type: 'volume.expand', capacity: { requiredBytes: this.#pick(['20', '40', '60']) } }),
      () => ({ type: 'volume.modify', mutableParameters: { [this.#pick(['x', 'y'])]: this.#pick(['1', '2']) } }),
      () => ({ type: 'volume.retry' }),
      () => ({ type: 'volume.delete', force: this.#is(0.3) }),
      () => this.#list(),
    ])();
  }

  /** What the plugin lists. Somebody else may have attached the volume where nobody here has anything of it. */
  #list(): VolumeRequest {
    const { csi, publications, claims, work } = this.#context;
    const csiNodeIds = Object.values(publications).map((one) => one.csiNodeId);
    const nodeId = this.#pick(nodes);
    const isFree = !publications[nodeId] && claims.length === 0 && !csiNodeIds.includes(`csi-${nodeId}`);
    const isBeingDeleted = work?.kind === 'delete' && work.isCalling;
    if (csi && isFree && !isBeingDeleted) this.#attached.add(`csi-${nodeId}`);
    const strays = [...this.#attached]
      .filter((one) => !csiNodeIds.includes(one))
      .map((one) => ({ nodeId: one.slice(-1), csiNodeId: one }));
    const sighting = { isMissing: false, attached: [...this.#attached], strays: csi ? strays : [] };
    return { type: 'volume.observed', believed: beliefOf(this.#context), sighting };
  }

  /** Attached in truth, and not known to be. */
  #unknown(): string[] {
    const { publications, leftovers } = this.#context;
    const known = [...Object.values(publications), ...leftovers].map(({ csiNodeId }) => csiNodeId);
    return [...this.#attached].filter((one) => !known.includes(one));
  }

  /** Attached in truth, and not told of as given up. */
  #untold(): string[] {
    const given = this.#context.leftovers.map(({ csiNodeId }) => csiNodeId);
    return [...this.#attached].filter((one) => !given.includes(one));
  }

  #judge(): void {
    const { lifecycle, work } = this.#context;
    const { shownAs } = lifecycleChart.metaOf(lifecycle);
    // A call about a node is shown before the phase of the volume itself.
    if (shownAs && work?.nodeId === undefined)
      expect(volumeStateOf(this.#snapshot.value, this.#context), `shown while ${lifecycle.at}`).to.equal(shownAs);
    const { leftovers } = this.#context;
    expect(this.#unknown(), 'attached, and on no record').to.deep.equal([]);
    if (this.isOver) {
      const isTold = leftovers.some(({ what }) => what === 'created');
      expect(this.#exists && !isTold, 'there, and on no record').to.equal(false);
    } else {
      this.#judgeCall();
      if (!this.#context.work) expect(this.#due(), 'due while nothing is done').to.deep.equal([]);
    }
  }

  /** The machine makes the call of its record, and the part that it is made for stays until the call has ended. */
  #judgeCall(): void {
    const { work, awaiting, publications, expansion, modification } = this.#context;
    const [effect] = machine.activeInvokes(this.#snapshot);
    expect(effect !== undefined, this.#state).to.equal(work?.isCalling === true);
    expect(effect === 'admission', this.#state).to.equal(awaiting !== null);
    if (effect === undefined || effect === 'admission') return;
    const parts = volumeParts(this.#context);
    this.called += checkCalls(parts, effect);
    const called = parts.filter(({ at }) => /\.calling$|-under-way$/.test(at));
    // A deletion lets go of changes; their call goes on.
    const isLetGo = (work?.kind === 'expand' && !expansion) || (work?.kind === 'modify' && !modification);
    expect(called, `parts with a call in ${this.#state}`).to.have.length(isLetGo ? 0 : 1);
    expect(publications[work?.nodeId ?? '']?.number, `publication in ${this.#state}`).to.equal(this.#number);
  }

  /** Parts that want a call, and are not blocked by another one. */
  #due(): string[] {
    const { csi, lifecycle, publications, expansion, modification } = this.#context;
    const onNodes = Object.entries(publications).filter(([nodeId, one]) => {
      const { call } = publicationChart.metaOf(one);
      return call === 'unpublish' || (call === 'publish' && blockersOf(this.#context, nodeId, one).length === 0);
    });
    return [
      ...(lifecycleChart.metaOf(lifecycle).call ? [lifecycle.at] : []),
      ...(csi ? onNodes.map(([nodeId]) => nodeId) : []),
      ...(lifecycle.at === 'created' && expansion && expansionChart.metaOf(expansion).call ? ['expansion'] : []),
      ...(lifecycle.at === 'created' && modification && modificationChart.metaOf(modification).call
        ? ['modification']
        : []),
    ];
  }
}

const lives = Number(process.env.HISTORIES ?? 100);

describe('random lives of a volume', () => {
  it('V4 V8 V9 V13 one call at a time, nothing due is left, and nothing is forgotten', () => {
    let [deleted, called] = [0, 0];
    for (let seed = 0; seed < lives; seed += 1) {
      const life = new Life(seed);
      try {
        for (let count = 0; count < 150 && !life.isOver; count += 1) life.step();
      } catch (error) {
        throw new Error(`seed ${seed}: ${error}\n${life.story.slice(-20).join('\n')}`, { cause: error });
      }
      if (life.isOver) deleted += 1;
      called += life.called;
    }
    expect(called).to.be.greaterThan(3 * lives);
    expect(deleted).to.be.greaterThan(lives / 3);
  });
});
