/** Whoever has the volumes of a history of mounts: keeps holds and claims, publishes to the node, and outlives every runtime. */

import type { Capability, CapacityRange } from '../../machines/kit/csi-types.js';
import type { Hold, VolumeKey } from '../../machines/volume/wishes.js';
import { StagecraftError } from '../../src/errors.js';
import type { ClaimClient, KnownVolume, PublishedVolume, VolumeOnNode } from '../../src/mounts/claim-client.js';
import { chance } from './dice.js';
import type { HistoryTranscript } from './history-transcript.js';
import type { MortalClock, Timeline } from './timeline.js';

interface KeptVolume {
  id: string;
  capabilities: Capability[];
  /** Of the last hold or claim. */
  generation: number;
  holds: Hold[];
  claims: Hold[];
  expansion?: CapacityRange;
}

/** All that is kept, as data. */
export interface ClaimsNow {
  volumes: KeptVolume[];
  fencedAtMs: [name: string, atMs: number][];
}

interface ClaimsOptions {
  seed: number;
  timeline: Timeline;
  capabilities: Record<string, Capability[]>;
  /** Called as an alloc is said to have let go. @param isLast no other has a hold or a claim */
  released(volume: string, allocId: string, isLast: boolean): void;
  transcript: HistoryTranscript;
}

export const pluginName = 'disk';
/** How long a request waits for an answer that does not come. */
const silentMs = 30_000;

export class SimulatedClaims {
  readonly volumes = new Map<string, KeptVolume>();
  trouble: 'silent' | 'refusing' | undefined;
  /** By volume and alloc: when what it had was taken from it; gone once it has asked again. */
  readonly fencedAtMs = new Map<string, number>();
  readonly #options: ClaimsOptions;
  #asked = 0;

  constructor(options: ClaimsOptions) {
    this.#options = options;
    for (const [id, capabilities] of Object.entries(options.capabilities))
      this.volumes.set(id, { id, capabilities, generation: 0, holds: [], claims: [] });
  }

  get now(): ClaimsNow {
    return { volumes: [...this.volumes.values()], fencedAtMs: [...this.fencedAtMs] };
  }

  /** It is as another one was. */
  takeUp({ volumes, fencedAtMs }: ClaimsNow): void {
    for (const volume of volumes) this.volumes.set(volume.id, volume);
    for (const [name, atMs] of fencedAtMs) this.fencedAtMs.set(name, atMs);
  }

  /** The way of one runtime to it. */
  client(clock: MortalClock): ClaimClient {
    const ask = <T>(what: string, key: VolumeKey, work: (volume: KeptVolume) => T): Promise<T> =>
      this.#ask(clock, `${what} ${key.id}`, () => work(this.#must(key.id)));
    return {
      look: (key) => ask('look', key, foundOf),
      claim: (key, { allocId }) => ask('claim', key, (volume) => ({ generation: this.claim(volume, allocId) })),
      holds: (key, { allocId, generation }) =>
        ask('holds', key, ({ claims }) => claims.some((one) => isOf(one, allocId, generation))),
      publish: (key, { hold, claim }) => ask('publish', key, (volume) => this.#publish(volume, { hold, claim })),
      release: (key, { allocId }) =>
        ask('release', key, ({ claims }) => {
          const claim = claims.find((one) => one.allocId === allocId);
          return claim ? { generation: claim.generation } : {};
        }),
      unstaged: (key, { allocId, generation }) =>
        ask(`unstaged for ${allocId}:`, key, (volume) => {
          const isKept = volume.claims.some((one) => isOf(one, allocId, generation));
          volume.claims = volume.claims.filter((one) => !isOf(one, allocId, generation));
          if (isKept) this.#released(volume, allocId);
        }),
      holdReleased: (key, { allocId, generation }) =>
        ask(`hold ${generation} of ${allocId} is released:`, key, (volume) => {
          const isNewer = volume.holds.some((one) => one.allocId === allocId && one.generation > generation);
          volume.holds = volume.holds.filter((one) => one.allocId !== allocId || one.generation > generation);
          if (!isNewer) this.#released(volume, allocId);
        }),
      expanded: (key) =>
        ask('expanded', key, (volume) => {
          delete volume.expansion;
        }),
    };
  }

  /** Takes all holds and claims of the node away. */
  fence(): void {
    for (const volume of this.volumes.values()) {
      for (const { allocId } of [...volume.holds, ...volume.claims])
        this.fencedAtMs.set(`${volume.id} ${allocId}`, this.#options.timeline.monotonicMs);
      volume.holds = [];
      volume.claims = [];
    }
  }

  claim(volume: KeptVolume, allocId: string): number {
    const claim = volume.claims.find((one) => one.allocId === allocId);
    this.fencedAtMs.delete(`${volume.id} ${allocId}`);
    if (claim) return claim.generation;
    volume.generation += 1;
    volume.claims.push({ allocId, generation: volume.generation });
    return volume.generation;
  }

  #publish(
    volume: KeptVolume,
    { hold, claim }: { hold?: string | undefined; claim?: Hold | undefined },
  ): PublishedVolume {
    if (claim && !volume.claims.some((one) => isOf(one, claim.allocId, claim.generation)))
      throw new StagecraftError('CLAIM_LOST', `${volume.id} is not claimed for alloc ${claim.allocId} any more`);
    const { id } = volume;
    const published = { csiId: id, volumeContext: {}, publishContext: { device: id } };
    if (hold === undefined) return { ...knownOf(volume), ...published };
    this.fencedAtMs.delete(`${id} ${hold}`);
    volume.generation += 1;
    volume.holds = [
      ...volume.holds.filter(({ allocId }) => allocId !== hold),
      { allocId: hold, generation: volume.generation },
    ];
    return { ...knownOf(volume), ...published, hold: volume.generation };
  }

  #released({ id, holds, claims }: KeptVolume, allocId: string): void {
    const kept = [...holds, ...claims];
    if (kept.some((one) => one.allocId === allocId)) return;
    this.#options.released(id, allocId, kept.length === 0);
  }

  #must(id: string): KeptVolume {
    const volume = this.volumes.get(id);
    if (!volume) throw new StagecraftError('VOLUME_NOT_FOUND', `there is no volume ${id}`);
    return volume;
  }

  /** A request arrives at once; its answer takes its time, and finds a dead runtime, too. */
  #ask<T>(clock: MortalClock, what: string, work: () => T): Promise<T> {
    const { seed, timeline, transcript } = this.#options;
    if (!clock.isAlive) return new Promise(() => {});
    this.#asked += 1;
    const n = this.#asked;
    const ms = Math.floor(chance(seed, 'claims', n) * (chance(seed, 'claims', n, 'slow') < 0.9 ? 10 : 500));
    return new Promise((resolve, reject) => {
      const answer = (told: string, hear: () => void): void =>
        void timeline.after(ms, () => {
          transcript.call(`claims: ${what} → ${told}`);
          clock.whenAwake(hear);
        });
      const refuse = (): void => answer('refused', () => reject(new StagecraftError('NOT_LEADER', 'nobody leads now')));
      if (this.trouble === 'silent') return void timeline.after(silentMs, refuse);
      if (this.trouble === 'refusing') return refuse();
      try {
        const result = work();
        answer(JSON.stringify(result) ?? 'done', () => resolve(result));
      } catch (error) {
        answer(String(error), () => reject(error));
      }
    });
  }
}

const isOf = (one: Hold, allocId: string, generation: number): boolean =>
  one.allocId === allocId && one.generation === generation;

const knownOf = ({ id, capabilities, expansion, holds }: KeptVolume): KnownVolume => ({
  ...{ uid: `uid-${id}`, plugin: pluginName, capabilities, secrets: {} },
  ...(expansion && { expansion }),
  ...(holds.length > 0 && { holds: [...holds] }),
});

const foundOf = (volume: KeptVolume): VolumeOnNode => ({
  ...knownOf(volume),
  claims: [...volume.claims],
  isKept: volume.claims.length + volume.holds.length > 0,
});
