/**
 * Plays one history by its kind and seed, as lines of four strands that a change of the machines' names leaves alone: calls,
 * answers, views of each actor as its users get them, and commits. Compared by baseline.ts
 */
import type { StateValue } from 'xstate';
import type { Tries } from '../../machines/kit/csi-types.js';
import type { MountContext } from '../../machines/mount/types.js';
import type { SnapshotContext } from '../../machines/snapshot/phases.js';
import type { VolumeContext } from '../../machines/volume/types.js';
import { decodeRecord } from '../../src/engine/actor/actor-record.js';
import type { Commit } from '../../src/engine/store.js';
import { mountStatusOf } from '../../src/mounts/mount-view.js';
import { mountPaths } from '../../src/mounts/paths.js';
import { groupSnapshotOf, snapshotOf } from '../../src/snapshots/snapshot-view.js';
import { journalRows, seqOf } from '../../src/stores/commit-rule.js';
import { volumeOf } from '../../src/volumes/volume-view.js';
import type { Happening } from './history-transcript.js';
import { limitsPlanOf } from './limits-plan.js';
import { mountsHistory } from './mounts-history.js';
import { mountsPlanOf } from './mounts-plan.js';
import { fullPlanOf } from './snapshots-plan.js';
import { volumesHistory } from './volumes-history.js';
import type { VolumesPlan } from './volumes-plan.js';

export const strands = ['calls', 'answers', 'views', 'commits'] as const;

export interface BaselineLine {
  of: (typeof strands)[number];
  text: string;
}

export const baselineKinds = ['volumes', 'limits', 'snapshots', 'mounts'] as const;
export type BaselineKind = (typeof baselineKinds)[number];
export const isBaselineKind = (name: string): name is BaselineKind => baselineKinds.some((kind) => kind === name);

/** Seeds of the histories of volumes end before these. */
const firstOfSnapshots = 100_001;

/** First seeds that a kind is played with. */
export function seedsOf(kind: BaselineKind, count: number): number[] {
  const seeds: number[] = [];
  for (let seed = kind === 'snapshots' ? firstOfSnapshots : 1; seeds.length < count; seed += 1)
    if (kind !== 'snapshots' || hasSnapshots(fullPlanOf(seed))) seeds.push(seed);
  return seeds;
}

const hasSnapshots = ({ steps }: VolumesPlan): boolean => steps.some((step) => step.do === 'snapshot');

interface PlayedHistory {
  lines: BaselineLine[];
  /** Promises that it broke. */
  faults: string[];
}

export async function played(kind: BaselineKind, seed: number): Promise<PlayedHistory> {
  const lines = new Lines();
  const happened = (happening: Happening): void => lines.happened(happening);
  const committed = (commit: Commit, { atMs }: { atMs: number }): void => lines.committed(commit, atMs);
  const { faults } =
    kind === 'mounts'
      ? await mountsHistory(mountsPlanOf(seed), { happened, wrote: committed })
      : await volumesHistory(kind === 'limits' ? limitsPlanOf(seed) : fullPlanOf(seed), {
          happened,
          committed,
        });
  return { lines: lines.all, faults };
}

class Lines {
  readonly all: BaselineLine[] = [];
  /** By address. */
  readonly #views = new Map<string, string>();

  happened({ atMs, of, text, request }: Happening): void {
    this.#add(of, atMs, request ? `${text} ${textOf(request)}` : text);
  }

  committed(commit: Commit, atMs: number): void {
    const { address, text } = commit;
    this.#add('commits', atMs, `${address} ${seqOf(commit)}, steps: ${journalRows(commit).length}`);
    const { snapshot } = decodeRecord(text);
    const view = snapshot ? viewOf(address, snapshot.value, snapshot.context) : null;
    const shown = view === undefined ? undefined : textOf(view);
    if (shown === undefined || shown === this.#views.get(address)) return;
    this.#views.set(address, shown);
    this.#add('views', atMs, `${address} ${shown}`);
  }

  #add(of: BaselineLine['of'], atMs: number, text: string): void {
    this.all.push({ of, text: `${atMs} ms ${text}` });
  }
}

const paths = mountPaths({ dataDir: '/data', socketRoot: '/data' });

/** View of an actor without exact states: their names may change. Null: nothing is there; undefined: an actor of another kind. */
function viewOf(address: string, value: StateValue, context: unknown): object | null | undefined {
  switch (address.slice(0, address.indexOf('/'))) {
    // The machine of the address has made the context.
    case 'volume':
      return volumeViewOf(value, context as VolumeContext);
    case 'mount':
      return mountViewOf(value, context as MountContext);
    case 'volume-snapshot':
      return snapshotViewOf(snapshotOf(context as SnapshotContext), context as SnapshotContext);
    case 'group-snapshot':
      return snapshotViewOf(groupSnapshotOf(context as SnapshotContext), context as SnapshotContext);
    default:
      return undefined;
  }
}

function volumeViewOf(value: StateValue, context: VolumeContext): object {
  const { parts, publications, ...view } = volumeOf(value, context);
  const { lifecycle, expansion, modification } = context;
  return {
    ...view,
    publications: mapped(publications, ({ step, attachedBy, ...publication }) => publication),
    reasons: reasonsOf(parts),
    tries: mapped({ lifecycle, expansion, modification, ...context.publications }, (part) => triesOf(part?.tries)),
  };
}

function mountViewOf(value: StateValue, context: MountContext): object | null {
  const status = mountStatusOf(value, context, paths, undefined);
  if (!status) return null;
  const { parts, ...view } = status;
  const { staging, expansion, users } = context;
  const tries = { stage: staging.tries, unstage: staging.unstageTries, expand: expansion?.tries };
  return {
    ...view,
    reasons: reasonsOf(parts),
    tries: mapped(tries, triesOf),
    userTries: users.map((user) => triesOf(user.tries)),
  };
}

const snapshotViewOf = (
  { step: _, ...view }: ReturnType<typeof snapshotOf | typeof groupSnapshotOf>,
  context: SnapshotContext,
): object => ({
  ...view,
  tries: triesOf(context.tries),
});

const reasonsOf = (parts: readonly { id: string; why?: string }[]): object[] =>
  parts.map(({ id, why }) => ({ id, why }));

const triesOf = (tries: Tries | null | undefined): object | undefined =>
  tries ? { count: tries.count, notBeforeMs: tries.notBeforeMs } : undefined;

const mapped = <T, R>(record: Record<string, T>, map: (item: T) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(record).map(([name, item]) => [name, map(item)]));

/** JSON with names in order: the same data in another order is the same text. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, item) => {
    if (typeof item === 'bigint') return String(item);
    if (!(item instanceof Object) || Array.isArray(item)) return item;
    return Object.fromEntries(Object.entries(item).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
