/** Describes events and states of allocs and mounts for a person, one line each. */
import type { AllocEvent, AllocStatus, AllocVolumeStatus } from '../allocs/alloc-view.js';
import { type Waiting, waitReasonsOf } from '../allocs/alloc-waits.js';
import type { MountEvent } from '../mounts/mount-view.js';
import { timeOfDay } from './describe.js';

export { waitReasonsOf };

/** Describes events of mounts, in order. A normal condition is news only after an abnormal one. */
export function mountTeller(): (event: MountEvent) => string | undefined {
  const unwell = new Set<string>();
  return (event) => {
    const { namespace, id } = event.key;
    const name = `${namespace}/${id}`;
    const prefix = `${timeOfDay(event.at)} volume ${name}: `;
    if (event.kind !== 'condition') return `${prefix}${changeIn(event)}`;
    const wasUnwell = unwell.delete(name);
    const { abnormal = false, message = 'its plugin says nothing of it any more' } = event.condition ?? {};
    if (abnormal) unwell.add(name);
    else if (!wasUnwell) return undefined;
    return `${prefix}its condition here is ${abnormal ? 'abnormal' : 'not abnormal any more'}: ${message}`;
  };
}

const failedIn = {
  stage: 'not staged',
  publish: 'not mounted',
  unpublish: 'not unmounted',
  unstage: 'not unstaged',
  expand: 'not expanded on this node',
};

/** Staging of a dead volume needs an unstage first, which a mount that still answers prevents. */
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
      return `plugin '${plugin}' reported it unmounted, but left it mounted at ${path}: Stagecraft has unmounted it`;
    }
    case 'failed': {
      const { allocId, failure } = event;
      const whose = allocId === undefined ? '' : ` for alloc ${allocId}`;
      return `${failedIn[event.in]}${whose}${failure.final ? '' : ' yet'}: ${failure.message}`;
    }
    case 'lost': {
      const how = event.is === 'dead' ? 'does not answer any more' : 'is not there any more';
      const next = event.isMended ? 'it is mounted again' : 'it stays so until stagecraft mount retry';
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

/** Code of failures that also have the event `claim-lost`, which is printed instead. */
const claimLost = 'CLAIM_LOST';

/** Describes an event of an alloc; undefined for steps that are not worth a line. */
export function describeAllocEvent(event: AllocEvent): string | undefined {
  const { kind, failure } = event;
  const alloc = `${timeOfDay(event.at)} alloc ${event.allocId}`;
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

type Troubled = Waiting & { volumes?: readonly Wrong[]; error?: { message: string } };

/** Summarizes an alloc in one line. */
export function describeAlloc(alloc: Pick<AllocStatus, 'allocId' | 'state'> & Troubled): string {
  const why = allocTrouble(alloc);
  return `alloc ${alloc.allocId}: ${alloc.state}${why === undefined ? '' : `: ${why}`}`;
}

/** Lists why an alloc failed, what it waits for, and what is wrong with its volumes; undefined if all is well. */
export function allocTrouble({ error, ...alloc }: Troubled): string | undefined {
  return [...(error ? [error.message] : []), ...waitReasonsOf(alloc), ...wrongsOf(alloc)].join('; ') || undefined;
}

type Wrong = Pick<AllocVolumeStatus, 'name' | 'message'>;

/** Lists what is wrong with the volumes of a prepared alloc, as `name: message`. */
export const wrongsOf = ({ volumes = [] }: { volumes?: readonly Wrong[] }): string[] =>
  volumes.flatMap(({ name, message }) => (message === undefined ? [] : [`${name}: ${message}`]));
