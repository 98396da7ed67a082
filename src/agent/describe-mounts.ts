/** What becomes of allocs and mounts of this node, in words for a person: one line each. */
import { type AllocStatus, type AllocVolumeStatus, reasonsOf, type Waiting } from '../allocs/alloc-view.js';
import type { AllocEvent, MountEvent } from '../mounts/mount-events.js';
import { timeOf } from './describe.js';

export { reasonsOf };

/** Describes what happens to mounts, in its order. That a condition is normal is news only where it was not. */
export function mountTeller(): (event: MountEvent) => string | undefined {
  const unwell = new Set<string>();
  return (event) => {
    const { namespace, id } = event.key;
    const name = `${namespace}/${id}`;
    const told = `${timeOf(event.at)} volume ${name}: `;
    if (event.kind !== 'condition') return `${told}${changeIn(event)}`;
    const wasUnwell = unwell.delete(name);
    const { abnormal = false, message = 'its plugin says nothing of it any more' } = event.condition ?? {};
    if (abnormal) unwell.add(name);
    else if (!wasUnwell) return undefined;
    return `${told}its condition here is ${abnormal ? 'abnormal' : 'not abnormal any more'}: ${message}`;
  };
}

const failedIn = {
  stage: 'not staged',
  publish: 'not mounted',
  unpublish: 'not unmounted',
  unstage: 'not unstaged',
  expand: 'not expanded on this node',
};

/** One that is dead is unstaged first, which a mount that answers keeps it from. */
const stagedAgain = 'it is staged again, unless mount list says what keeps it from that';

function changeIn(event: Exclude<MountEvent, { kind: 'condition' }>): string {
  switch (event.kind) {
    case 'mounted':
      return `mounted for alloc ${event.allocId}${event.readOnly ? ', read-only' : ''} (${event.durationMs} ms)`;
    case 'unmounted': {
      const left = event.leftBehind === undefined ? '' : `; left behind, remove it by hand: ${event.leftBehind}`;
      return `unmounted for alloc ${event.allocId} (${event.durationMs} ms)${left}`;
    }
    case 'unmounted-for-plugin': {
      const { plugin, path } = event;
      return `plugin '${plugin}' said that it was unmounted, and had left it at ${path}: Stagecraft has unmounted it`;
    }
    case 'failed': {
      const { allocId, failure } = event;
      const whose = allocId === undefined ? '' : ` for alloc ${allocId}`;
      return `${failedIn[event.in]}${whose}${failure.final ? '' : ' yet'}: ${failure.message}`;
    }
    case 'lost': {
      const how = event.is === 'dead' ? 'does not answer any more' : 'is not there any more';
      const next = event.isMended ? 'it is mounted again' : 'it stays so until that is asked for: mount retry';
      return `its mount for alloc ${event.allocId} ${how}: ${next}`;
    }
    case 'staging-lost':
      return `it is not staged any more: ${event.isMended ? stagedAgain : 'it stays so until it is mounted again'}`;
    case 'left-behind':
      return `unstaged; left behind, remove it by hand: ${event.leftBehind}`;
    case 'expanded':
      return 'expanded on this node';
  }
}

/** Told by an event of its own. */
const claimLost = 'CLAIM_LOST';

/** Undefined for what is a step on a way only. */
export function describeAllocEvent(event: AllocEvent): string | undefined {
  const { kind, failure } = event;
  const alloc = `${timeOf(event.at)} alloc ${event.allocId}`;
  switch (kind) {
    case 'preparing':
      return undefined;
    case 'releasing':
      return failure && failure.code !== claimLost ? `${alloc}: not prepared: ${failure.message}` : undefined;
    case 'claim-lost':
      return `${alloc}: ${failure?.message ?? 'its claim is lost'}`;
    case 'recovering':
      return `${alloc}: recovering, until its volumes are known to be mounted`;
    case 'failed':
      return `${alloc}: failed; nothing of it is left here`;
    default:
      return `${alloc}: ${kind}`;
  }
}

/** The one-line summary of an alloc. */
export function describeAlloc(alloc: AllocStatus): string {
  const why = allocTrouble(alloc);
  return `alloc ${alloc.allocId}: ${alloc.state}${why === undefined ? '' : `: ${why}`}`;
}

/** Why it failed or is undone, what it waits for, and what is wrong with what it has; undefined: nothing. */
export function allocTrouble({
  error,
  ...alloc
}: Waiting & { volumes?: readonly Wrong[]; error?: { message: string } }): string | undefined {
  return [...(error ? [error.message] : []), ...reasonsOf(alloc), ...wrongsOf(alloc)].join('; ') || undefined;
}

type Wrong = Pick<AllocVolumeStatus, 'name' | 'message'>;

/** What is wrong with the volumes of one that is prepared: `name: what`. */
export const wrongsOf = ({ volumes = [] }: { volumes?: readonly Wrong[] }): string[] =>
  volumes.flatMap(({ name, message }) => (message === undefined ? [] : [`${name}: ${message}`]));
