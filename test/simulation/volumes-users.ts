/** Those who use volumes in a history: they ask, remember what they were told, and their nodes report. */

import { nodeAddress, volumeAddress } from '../../machines/kit/addresses.js';
import type { Capability } from '../../machines/kit/csi-types.js';
import { isDeleted } from '../../machines/volume/lifecycle.js';
import type { VolumeContext } from '../../machines/volume/types.js';
import { StagecraftError } from '../../src/errors.js';
import type { VolumeSpec } from '../../src/volumes/spec.js';
import { chance } from './dice.js';
import { SnapshotUsers } from './snapshots-users.js';
import type { Timeline } from './timeline.js';
import type { SeenVolume } from './volumes-judgement.js';
import { Ledger } from './volumes-ledger.js';
import type { VolumesLife } from './volumes-life.js';
import { csiNodeIdOf, nodeIds, type Step, type Traits } from './volumes-plan.js';

const pluginName = 'disk';
/** Of volumes that are not in the plan. */
const anyMode = 'multi-node-multi-writer';
const reportAgainMs = 2_000;
/** Histories whose nodes report of each claim for itself, the last first. None that was broken once: those go as they went. */
const reportsEach = (seed: number): boolean => seed % 8 < 2;

interface UsersOptions {
  seed: number;
  timeline: Timeline;
  traits: Traits;
  /** The runtime that can be asked now. */
  life(): VolumesLife | undefined;
  tell(line: string): void;
  /** Told of every error that a user gets. */
  heard(text: string): void;
}

type StepOf<Do extends Step['do']> = Extract<Step, { do: Do }>;
type UserStep = Exclude<Step, StepOf<'spell' | 'plugin' | 'secrets' | 'crash' | 'freeze' | 'detach'>>;

export class Users {
  readonly ledger = new Ledger();
  readonly faults: string[] = [];
  readonly snapshots: SnapshotUsers;
  readonly #options: UsersOptions;
  /** By id, as committed last. */
  readonly #seen = new Map<string, VolumeContext>();
  readonly #reporting = new Set<string>();
  readonly #silent = new Set<string>();
  /** What is open is over if its runtime dies: it is committed by then, or never will be. */
  readonly #open = new Set<() => void>();
  #asked = 0;

  constructor(options: UsersOptions) {
    this.#options = options;
    this.snapshots = new SnapshotUsers({
      ledger: this.ledger,
      secret: options.traits.secret,
      life: options.life,
      ask: (step, work) => this.#ask(step, work),
      undo: (step, names, work) => this.#undo(step, names, work),
    });
  }

  saw({ context }: SeenVolume): void {
    this.#seen.set(context.key.id, context);
    for (const { nodeId, state } of context.claims)
      if (state === 'unpublishing') this.#reportSoon(context.key.id, nodeId);
  }

  /** Nobody hears of what was asked for any more. */
  forget(): void {
    for (const end of [...this.#open]) end();
  }

  do(step: UserStep): void {
    const life = this.#options.life();
    if (!life) return;
    const { volumes } = life;
    switch (step.do) {
      case 'create':
        this.#create(life, step);
        break;
      case 'publish':
        this.#publish(life, step);
        break;
      case 'unpublish':
        this.#undo(step, [`p:${step.volume}/${step.node}`], () =>
          volumes.unpublish({ id: step.volume }, step.node, patienceOf(step)),
        );
        break;
      case 'delete':
        this.#delete(life, step);
        break;
      case 'claim':
        this.#claim(life, step);
        break;
      case 'release':
        this.#undo(step, [`c:${step.volume}/${step.alloc}`, `r:${step.volume}`], () =>
          volumes.release({ id: step.volume }, step.alloc),
        );
        break;
      case 'retry':
        void this.#ask(step, () => volumes.retry({ id: step.volume }));
        break;
      case 'acknowledge':
        void this.#ask(step, () => volumes.acknowledge({ id: step.volume }));
        break;
      case 'availability':
        void this.#ask(step, () => volumes.setAvailability({ id: step.volume }, step.availability));
        break;
      case 'expand':
        void this.#ask(step, () =>
          this.#tellVolume(life, step.volume, { type: 'volume.expand', capacity: { requiredBytes: 2 } }),
        );
        break;
      case 'modify':
        void this.#ask(step, () =>
          this.#tellVolume(life, step.volume, { type: 'volume.modify', mutableParameters: { speed: 'high' } }),
        );
        break;
      case 'node':
        this.#node(life, step);
        break;
      case 'reconcile':
        void this.#ask(step, () => volumes.reconcile());
        break;
      default:
        this.snapshots.do(step);
    }
  }

  /** Every node is there, and says so. */
  async reportNodes(): Promise<void> {
    const life = this.#options.life();
    this.#silent.clear();
    for (const id of nodeIds)
      void this.#ask({ do: 'node', node: id, change: 'report' }, async () => life && this.#report(life, id));
    await this.#options.timeline.rest(undefined, 10);
    for (const { key, claims } of this.#seen.values())
      for (const { nodeId, state } of claims) if (state === 'unpublishing') this.#reportSoon(key.id, nodeId);
  }

  csiIdOf(volume: string): string | undefined {
    return this.#seen.get(volume)?.csi?.id;
  }

  /** Somebody else takes it away: it is published again, or that may be refused. */
  lost(volume: string, node: string): void {
    this.ledger.undo(`p:${volume}/${node}`);
  }

  /** Answers whether there was something to try again. */
  async retryFailed(): Promise<boolean> {
    const failed = [...this.#seen].filter(([, context]) => hasFailed(context)).map(([id]) => id);
    for (const volume of failed) this.do({ atMs: 0, do: 'retry', volume });
    const isSnapshotRetried = this.snapshots.retryFailed();
    await this.#options.timeline.rest(undefined, 10);
    return failed.length > 0 || isSnapshotRetried;
  }

  /** Lets go of everything, and deletes it. @param settled resolves when all that is set off is done */
  async deleteAll(settled: () => Promise<void>): Promise<void> {
    this.#options.tell('all are deleted');
    for (const [id, { claims, waiting }] of this.#seen)
      for (const { allocId } of [...claims, ...waiting])
        this.do({ atMs: 0, do: 'release', volume: id, alloc: allocId });
    await settled();
    for (const [id, { publications }] of this.#seen)
      for (const node of Object.keys(publications)) this.do({ atMs: 0, do: 'unpublish', volume: id, node });
    await settled();
    for (const id of this.#seen.keys()) this.do({ atMs: 0, do: 'delete', volume: id, force: false });
    await settled();
  }

  /** In histories with a limit, a node has none now and then. */
  #report(life: VolumesLife, id: string): Promise<void> {
    const { seed, timeline, traits } = this.#options;
    const hasLimit = chance(seed, 'limit', id, timeline.monotonicMs) < 0.5;
    return this.#reportLimit(life, id, hasLimit ? traits.limit : undefined);
  }

  #reportLimit(life: VolumesLife, id: string, maxVolumes: number | undefined): Promise<void> {
    const plugin = { name: pluginName, nodeId: csiNodeIdOf(id), ...(maxVolumes !== undefined && { maxVolumes }) };
    return life.nodes.report({ id, plugins: [plugin] });
  }

  /** Every node gets as many volumes as it takes, and no more, whatever was there before. */
  async fillNodes(settled: () => Promise<void>): Promise<void> {
    const life = this.#options.life();
    const { limit, lacks } = this.#options.traits;
    if (!life || limit === undefined || lacks.includes('CREATE_DELETE_VOLUME')) return;
    const volumes = Array.from({ length: limit + 1 }, (_, at) => `fill-${at}`);
    for (const node of nodeIds)
      void this.#ask({ do: 'node', node, change: 'report' }, () => this.#reportLimit(life, node, limit));
    for (const volume of volumes) this.do({ atMs: 0, do: 'create', volume, size: 1 });
    await settled();
    for (const node of nodeIds) {
      for (const volume of volumes) this.do({ atMs: 0, do: 'publish', volume, node, readOnly: false, capability: 0 });
      await settled();
      const there = volumes.filter((id) => this.#seen.get(id)?.publications[node]?.at === 'published');
      if (there.length !== limit) this.faults.push(`node ${node} takes ${limit} volumes, and got ${there}`);
    }
  }

  #create({ volumes }: VolumesLife, step: StepOf<'create'>): void {
    const { volume } = step;
    const grant = this.ledger.ask(`create ${volume}`, volume, [`v:${volume}`]);
    void this.#ask(step, async () => {
      const { uid, csiId } = await volumes.create(this.#spec(volume, step.size), { wait: true, ...patienceOf(step) });
      grant((context) => context?.uid === uid && context.csi?.id === csiId);
    });
  }

  #publish({ volumes }: VolumesLife, step: StepOf<'publish'>): void {
    const { volume, node, readOnly } = step;
    const names = [`v:${volume}`, `p:${volume}/${node}`, `r:${volume}`, `n:${node}`];
    const grant = this.ledger.ask(`publish ${volume} on ${node}`, volume, names);
    const capability = this.#capability(volume, step.capability);
    void this.#ask(step, async () => {
      await volumes.publish({ id: volume }, node, { readOnly, capability, wait: true, ...patienceOf(step) });
      const number = this.#seen.get(volume)?.publications[node]?.number;
      grant((context) => {
        const publication = context?.publications[node];
        return publication?.at === 'published' && publication.number === number;
      });
    });
  }

  #claim({ volumes }: VolumesLife, step: StepOf<'claim'>): void {
    const { volume, alloc, node, mode, wait } = step;
    const { accessMode, attachmentMode } = this.#capability(volume, step.capability);
    const names = [`v:${volume}`, `c:${volume}/${alloc}`, `n:${node}`];
    const grant = this.ledger.ask(`claim ${volume} for ${alloc} on ${node}`, volume, names);
    const asked = { allocId: alloc, nodeId: node, mode, accessMode, attachmentMode, wait };
    void this.#ask(step, async () => {
      const { generation } = await volumes.claim({ id: volume }, asked);
      grant((context) => {
        const claim = context?.claims.find(({ allocId }) => allocId === alloc);
        return claim?.generation === generation && claim.state === 'taken';
      });
    });
  }

  #delete({ volumes }: VolumesLife, step: StepOf<'delete'>): void {
    const { volume, force } = step;
    const uid = this.#seen.get(volume)?.uid;
    this.#undo(step, [`v:${volume}`], async () => {
      await volumes.delete({ id: volume }, { force, ...patienceOf(step) });
      const grant = this.ledger.ask(`delete ${volume} (${uid})`, volume, []);
      grant((context) => context === undefined || context.uid !== uid || isDeleted(context.lifecycle));
    });
  }

  #node(life: VolumesLife, step: StepOf<'node'>): void {
    const { node, change } = step;
    if (change === 'report') {
      this.#silent.delete(node);
      void this.#ask(step, () => this.#report(life, node));
      return;
    }
    this.#silent.add(node);
    // What it sets off may be carried out at any later time.
    this.ledger.undo(`n:${node}`);
    const reason = change === 'fence' ? { reason: 'as asked' } : {};
    void this.#ask(step, () => life.engine.ask(nodeAddress(node), { type: `node.${change}`, ...reason }));
  }

  /** Asks for what undoes what these names stand for. */
  #undo(step: object, names: string[], work: () => Promise<unknown>): void {
    const undone = this.ledger.undo(...names);
    const end = (): void => {
      if (this.#open.delete(end)) undone();
    };
    this.#open.add(end);
    void this.#ask(step, work).finally(end);
  }

  async #ask(step: object, work: () => Promise<unknown>): Promise<void> {
    this.#asked += 1;
    const n = this.#asked;
    const { tell, heard } = this.#options;
    tell(`r${n} ${JSON.stringify(step)}`);
    try {
      await work();
      tell(`r${n} is done`);
    } catch (error) {
      tell(`r${n} gets ${error}`);
      heard(String(error));
      if (!(error instanceof StagecraftError))
        this.faults.push(`a user got ${error instanceof Error ? error.stack : error}`);
    }
  }

  /** A node lets go of what nobody on it uses any more; it says so until it is heard. */
  #reportSoon(id: string, nodeId: string): void {
    const key = `${id}/${nodeId}`;
    if (this.#reporting.has(key) || this.#silent.has(nodeId)) return;
    this.#reporting.add(key);
    const { seed, timeline, tell } = this.#options;
    const quick = chance(seed, key, timeline.monotonicMs) < 0.7;
    timeline.after(quick ? 5 : reportAgainMs, () => {
      this.#reporting.delete(key);
      const claims = (this.#seen.get(id)?.claims ?? []).filter(
        (one) => one.nodeId === nodeId && one.state === 'unpublishing',
      );
      const last = claims.at(-1);
      if (!last || this.#silent.has(nodeId)) return;
      const claimGeneration = Math.max(...claims.map(({ generation }) => generation));
      const { allocId, generation } = last;
      const report = reportsEach(seed) ? { claimGeneration: generation, allocId } : { claimGeneration };
      this.#reportSoon(id, nodeId);
      const life = this.#options.life();
      if (!life) return;
      tell(`node ${nodeId} has let go of ${id}: ${JSON.stringify(report)}`);
      const told = this.#tellVolume(life, id, { type: 'volume.unstaged', nodeId, ...report });
      told.catch(() => {}); // it is told again
    });
  }

  #tellVolume(life: VolumesLife, id: string, event: { type: string; [key: string]: unknown }): Promise<unknown> {
    return life.engine.ask(volumeAddress('default', id), event);
  }

  #capability(volume: string, nth: number): Capability {
    const modes = this.#options.traits.modes[volume] ?? [];
    const accessMode = modes[nth % modes.length] ?? anyMode;
    return { accessMode, attachmentMode: 'file-system' };
  }

  #spec(id: string, size: number): VolumeSpec {
    const { modes, secret } = this.#options.traits;
    return {
      id,
      plugin: pluginName,
      capacity: { requiredBytes: size },
      capabilities: (modes[id] ?? [anyMode]).map((accessMode) => ({ accessMode, attachmentMode: 'file-system' })),
      ...(secret.includes(id) && { secrets: { token: `file:${id}` } }),
    };
  }
}

const hasFailed = ({ lifecycle, expansion, modification, publications }: VolumeContext): boolean =>
  [lifecycle, expansion, modification, ...Object.values(publications)].some((piece) => piece?.failure);

const patienceOf = ({ timeoutMs }: { timeoutMs?: number }): { timeoutMs?: number } =>
  timeoutMs === undefined ? {} : { timeoutMs };
