/**
 * Allocs on an engine with simulated time, over claims and mounts that are what a test makes of them: each can be made to hang,
 * and the runtime to crash meanwhile.
 */
import { allocMachine } from '../../machines/alloc/alloc.js';
import type { AllocVolume } from '../../machines/alloc/types.js';
import type { Hold } from '../../machines/volume/wishes.js';
import type { AllocView } from '../../src/allocs/alloc-view.js';
import { type AllocMounting, AllocWorker, allocKind } from '../../src/allocs/alloc-work.js';
import type { ActorRecord } from '../../src/engine/actor/actor-record.js';
import { ActorsOf } from '../../src/engine/actors-of.js';
import type { Store } from '../../src/engine/store.js';
import { StagecraftError } from '../../src/errors.js';
import type { ClaimClient } from '../../src/mounts/claim-client.js';
import { Lab, type Life } from '../engine/lab.js';

export const address = 'alloc/n1/web';
export const allocId = 'web';
export const hold: Hold = { allocId, generation: 5 };

export const volume = (name: string): AllocVolume => ({
  ...{ name, volume: { namespace: 'default', id: name }, mode: 'write', readOnly: false, taskPath: `/${name}` },
  ...{ accessMode: 'single-node-writer', attachmentMode: 'file-system' },
});

/** What an alloc asks of others. */
export type Port =
  | 'claim'
  | 'holds'
  | 'publish'
  | 'bring'
  | 'reachable'
  | 'standing'
  | 'release'
  | 'take'
  | 'unstaged'
  | 'holdReleased'
  | 'forgetHold';

interface Slot {
  allocId: string;
  generation: number;
}

export class AllocLab {
  readonly lab = new Lab();
  readonly #address: string;
  /** By the id of a volume: who has its slot. */
  readonly slots = new Map<string, Slot>();
  /** Ids of the volumes that are mounted for the alloc. */
  readonly mounted = new Set<string>();
  readonly calls: string[] = [];
  /** Whether the alloc has a hold of 0.3.0: by the record of the mount, and where the volumes are. */
  readonly isHeld = { here: false, there: false };
  /** By port and volume (`bring data`): what a call comes to; default: it is done. `loses its answer`: it is done, and hangs. */
  readonly faults = new Map<string, 'hangs' | 'loses its answer' | StagecraftError>();
  #generation = 0;
  #life: Life | undefined;

  /** @param of address of the alloc */
  constructor(of = address) {
    this.#address = of;
  }

  get life(): Life {
    if (!this.#life) throw new Error('it is not started');
    return this.#life;
  }

  /** Begins a runtime, on what the one before has left. */
  async start(through?: (store: Store) => Store): Promise<void> {
    const worker = new AllocWorker({
      ...{ node: 'n1', claims: this.claims(), clock: this.lab.clock, compared: () => undefined },
      mounting: this.mounting(),
    });
    this.#life = await this.lab.start([allocKind(worker)], { ...(through && { through }) });
  }

  async ask(event: { type: string } & Record<string, unknown>): Promise<void> {
    await Promise.all([this.life.engine.ask(this.#address, event), this.lab.rest()]);
    await this.lab.rest();
  }

  prepare(names: string[], untilMs: number | null = null): Promise<void> {
    return this.ask({ type: 'alloc.prepare', volumes: names.map(volume), untilMs, bootId: 'b' });
  }

  view(): AllocView | undefined {
    return new ActorsOf(this.life.engine, allocMachine).peek(this.#address);
  }

  /** The record as it is stored. */
  async stored(): Promise<{ seq: number; envelope: ActorRecord }> {
    const record = await this.lab.data.load(this.#address);
    if (!record) throw new Error('nothing is stored');
    return { seq: record.seq, envelope: JSON.parse(record.text) };
  }

  /** Has the record of the mount drop the hold. */
  forgetHold(of: Key): Promise<void> {
    return this.#call('forgetHold', of, () => {
      this.isHeld.here = false;
    });
  }

  async #call<T>(port: Port, { id }: Key, work: () => T): Promise<T> {
    const call = `${port} ${id}`;
    this.calls.push(call);
    const fault = this.faults.get(call);
    if (fault === 'hangs') await new Promise(() => {});
    if (fault instanceof StagecraftError) throw fault;
    const result = work();
    if (fault === 'loses its answer') await new Promise(() => {});
    return result;
  }

  /** Port to the agent that works on volumes. */
  claims(): ClaimClient {
    return {
      look: async () => ({ ...known, ...(this.isHeld.there && { holds: [hold] }) }),
      claim: (of) =>
        this.#call('claim', of, () => {
          const held = this.slots.get(of.id);
          if (held && held.allocId !== allocId)
            throw new StagecraftError('CLAIM_CONFLICT', `volume ${of.id} is claimed by alloc ${held.allocId}`);
          this.#generation += 1;
          const slot = held ?? { allocId, generation: this.#generation };
          this.slots.set(of.id, slot);
          return { generation: slot.generation };
        }),
      holds: (of, { generation }) => this.#call('holds', of, () => this.slots.get(of.id)?.generation === generation),
      publish: (of, { claim }) =>
        this.#call('publish', of, () => {
          if (this.slots.get(of.id)?.generation !== claim?.generation)
            throw new StagecraftError('CLAIM_LOST', 'it has its claim no more', { final: true });
          return { ...known, csiId: of.id, volumeContext: {}, publishContext: {} };
        }),
      release: (of) =>
        this.#call('release', of, () => {
          const held = this.slots.get(of.id);
          return held?.allocId === allocId ? { generation: held.generation } : {};
        }),
      unstaged: (of) =>
        this.#call('unstaged', of, () => {
          if (this.mounted.has(of.id)) throw new Error(`${of.id} is reported as unmounted, and is mounted`);
          this.slots.delete(of.id);
        }),
      holdReleased: (of) =>
        this.#call('holdReleased', of, () => {
          this.isHeld.there = false;
        }),
      expanded: async () => {},
    };
  }

  protected mounting(): AllocMounting {
    const infoOf = ({ id }: Key) => ({ volume: key(id), hostPath: `/host/${id}`, readOnly: false, isDevice: false });
    return {
      check: async (asked) => ({ ...asked, known, capability }),
      publishing: () => ({ nodeId: 'n1', readOnly: false, ...capability }),
      bring: ({ key: of }: { key: Key }) =>
        this.#call('bring', of, () => {
          this.mounted.add(of.id);
          return infoOf(of);
        }),
      take: ({ key: of }) => this.#call('take', of, () => void this.mounted.delete(of.id)),
      reachable: (of) => this.#call('reachable', of, () => {}),
      standing: ({ key: of }) => this.#call('standing', of, () => (this.mounted.has(of.id) ? infoOf(of) : undefined)),
      confirm: async () => {},
      held: () => (this.isHeld.here ? hold : undefined),
    };
  }
}

interface Key {
  id: string;
}

const key = (id: string) => ({ namespace: 'default', id });

const capability = { accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;

const known = { uid: 'u', plugin: 'disk', capabilities: [], secrets: {} };
