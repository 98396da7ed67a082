/**
 * Allocs on an engine with simulated time, over claims and mounts that are what a test makes of them: each can be made to hang,
 * and the runtime to crash meanwhile.
 */
import { allocMachine } from '../../machines/alloc/alloc.js';
import type { AllocVolume } from '../../machines/alloc/types.js';
import { allocKind } from '../../src/allocs/alloc-kind.js';
import type { AllocView } from '../../src/allocs/alloc-view.js';
import { type AllocMounting, AllocWorker } from '../../src/allocs/alloc-work.js';
import type { ActorRecord } from '../../src/engine/actor/actor-record.js';
import { ActorsOf } from '../../src/engine/actors-of.js';
import { StagecraftError } from '../../src/errors.js';
import type { ClaimClient } from '../../src/mounts/claim-client.js';
import { Lab, type Life } from '../engine/lab.js';

export const address = 'alloc/n1/web';
export const allocId = 'web';

export const volume = (name: string): AllocVolume => ({
  ...{ name, volume: { namespace: 'default', id: name }, mode: 'write', readOnly: false, taskPath: `/${name}` },
  ...{ accessMode: 'single-node-writer', attachmentMode: 'file-system' },
});

/** What an alloc asks of others. */
export type Port = 'claim' | 'holds' | 'publish' | 'bring' | 'reachable' | 'standing' | 'release' | 'take' | 'unstaged';

interface Slot {
  allocId: string;
  generation: number;
}

export class AllocLab {
  readonly lab = new Lab();
  /** By the id of a volume: who has its slot. */
  readonly slots = new Map<string, Slot>();
  /** Ids of the volumes that are mounted for the alloc. */
  readonly mounted = new Set<string>();
  readonly calls: string[] = [];
  /** By port and volume (`bring data`): what a call comes to; default: it is done. */
  readonly faults = new Map<string, 'hangs' | StagecraftError>();
  #generation = 0;
  #life: Life | undefined;

  get life(): Life {
    if (!this.#life) throw new Error('it is not started');
    return this.#life;
  }

  /** Begins a runtime, on what the one before has left. */
  async start(): Promise<void> {
    const worker = new AllocWorker({
      ...{ node: 'n1', claims: this.#claims(), clock: this.lab.clock, compared: () => undefined },
      mounting: this.#mounting(),
    });
    this.#life = await this.lab.start([allocKind(worker)]);
  }

  async ask(event: { type: string } & Record<string, unknown>): Promise<void> {
    await Promise.all([this.life.engine.ask(address, event), this.lab.rest()]);
    await this.lab.rest();
  }

  prepare(names: string[], untilMs: number | null = null): Promise<void> {
    return this.ask({ type: 'alloc.prepare', volumes: names.map(volume), untilMs, bootId: 'b' });
  }

  view(): AllocView | undefined {
    return new ActorsOf(this.life.engine, allocMachine).peek(address);
  }

  /** The record as it is stored. */
  async stored(): Promise<{ seq: number; envelope: ActorRecord }> {
    const record = await this.lab.data.load(address);
    if (!record) throw new Error('nothing is stored');
    return { seq: record.seq, envelope: JSON.parse(record.text) };
  }

  async #reached(port: Port, id: string): Promise<void> {
    const call = `${port} ${id}`;
    this.calls.push(call);
    const fault = this.faults.get(call);
    if (fault === 'hangs') await new Promise(() => {});
    if (fault instanceof StagecraftError) throw fault;
  }

  #claims(): ClaimClient {
    const reached = (port: Port, id: string): Promise<void> => this.#reached(port, id);
    return {
      look: async () => known,
      claim: async ({ id }) => {
        await reached('claim', id);
        const held = this.slots.get(id);
        if (held && held.allocId !== allocId)
          throw new StagecraftError('CLAIM_CONFLICT', `volume ${id} is claimed by alloc ${held.allocId}`);
        this.#generation += 1;
        const slot = held ?? { allocId, generation: this.#generation };
        this.slots.set(id, slot);
        return { generation: slot.generation };
      },
      holds: async ({ id }, { generation }) => {
        await reached('holds', id);
        return this.slots.get(id)?.generation === generation;
      },
      publish: async ({ id }, { claim }) => {
        await reached('publish', id);
        if (this.slots.get(id)?.generation !== claim?.generation)
          throw new StagecraftError('CLAIM_LOST', 'it has its claim no more', { final: true });
        return { ...known, csiId: id, volumeContext: {}, publishContext: {} };
      },
      release: async ({ id }) => {
        await reached('release', id);
        const held = this.slots.get(id);
        return held?.allocId === allocId ? { generation: held.generation } : {};
      },
      unstaged: async ({ id }) => {
        await reached('unstaged', id);
        if (this.mounted.has(id)) throw new Error(`${id} is reported as unmounted, and is mounted`);
        this.slots.delete(id);
      },
      holdReleased: async () => {},
      expanded: async () => {},
    };
  }

  #mounting(): AllocMounting {
    const reached = (port: Port, id: string): Promise<void> => this.#reached(port, id);
    const infoOf = ({ id }: Key) => ({ volume: key(id), hostPath: `/host/${id}`, readOnly: false, isDevice: false });
    return {
      check: async (asked) => ({ ...asked, known, capability }),
      publishing: () => ({ nodeId: 'n1', readOnly: false, ...capability }),
      bring: async ({ key: { id } }: { key: Key }) => {
        await reached('bring', id);
        this.mounted.add(id);
        return infoOf({ id });
      },
      take: async ({ key: { id } }: { key: Key }) => {
        await reached('take', id);
        this.mounted.delete(id);
      },
      reachable: ({ id }: Key) => reached('reachable', id),
      standing: async ({ key: { id } }: { key: Key }) => {
        await reached('standing', id);
        return this.mounted.has(id) ? infoOf({ id }) : undefined;
      },
      refuseUnclaimed: () => {},
      confirm: async () => {},
    };
  }
}

interface Key {
  id: string;
}

const key = (id: string) => ({ namespace: 'default', id });

const capability = { accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;

const known = { uid: 'u', plugin: 'disk', capabilities: [], secrets: {} };
