/** The volumes of an alloc, all together: what the alloc makes of their parts (volume-steps.ts). Pure. */
import type { CallFailure } from '../kit/csi-types.js';
import type { PartView } from '../kit/parts.js';
import type { AllocContext, AllocVolume, NamedStep } from './types.js';
import type { AllocMount } from './volume-steps.js';
import { allocVolumeMachine, type StepEvent, type VolumePart, volumeSteps } from './volume-steps.js';

type Parts = AllocContext['parts'];

/** Each at its first step. */
export const begun = (volumes: readonly AllocVolume[]): Parts =>
  Object.fromEntries(volumes.map(({ name }) => [name, volumeSteps.begin({})]));

/** @throws Error a step that its volume can't reach from where it is */
export function advanced(parts: Parts, steps: readonly NamedStep[]): Parts {
  const next = { ...parts };
  for (const { name, ...step } of steps) {
    const part = next[name];
    if (!part) throw new Error(`the alloc has no volume '${name}'`);
    next[name] = volumeSteps.step(part, step);
  }
  return next;
}

/** The last steps of a run. @throws Error one of the volumes is not at such a step then */
export function completed(parts: Parts, steps: readonly NamedStep[], ends: readonly VolumePart['at'][]): Parts {
  const next = advanced(parts, steps);
  for (const [name, { at }] of Object.entries(next))
    if (!ends.includes(at)) throw new Error(`the work on volume '${name}' has ended, and it is ${at}`);
  return next;
}

/** The same happens to all. */
export const together = (parts: Parts, event: StepEvent): Parts =>
  mapped(parts, (part) => volumeSteps.step(part, event));

/** All are to be unmounted. @param blame the volume because of which, if it is because of one */
export const left = (parts: Parts, blame?: { name: string; failure: CallFailure }): Parts =>
  mapped(parts, (part, name) =>
    volumeSteps.step(part, { type: 'leave', ...(blame?.name === name && { failure: blame.failure }) }),
  );

const mapped = (parts: Parts, change: (part: VolumePart, name: string) => VolumePart): Parts =>
  Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, change(part, name)]));

type Owned = Pick<AllocContext, 'volumes' | 'parts'>;

/** Where its volumes are, in their order; null: not all have been mounted. */
export function mountsOf({ volumes, parts }: Owned): AllocMount[] | null {
  const mounts = volumes.flatMap(({ name }) => parts[name]?.mount ?? []);
  return mounts.length === volumes.length ? mounts : null;
}

/** By the name of a volume: what it waits for. */
export const reasonsOf = ({ parts }: Pick<Owned, 'parts'>): Record<string, string> =>
  picked(parts, ({ reason }) => reason);

/** By the name of a volume: the generation of its claim, as far as that is known. */
export const generationsOf = ({ parts }: Pick<Owned, 'parts'>): Record<string, number> =>
  picked(parts, ({ generation }) => generation);

const picked = <T>(parts: Parts, pick: (part: VolumePart) => T | undefined): Record<string, T> =>
  Object.fromEntries(
    Object.entries(parts).flatMap(([name, part]) => {
      const found = pick(part);
      return found === undefined ? [] : [[name, found]];
    }),
  );

/** All parts that the alloc has now: one for each of its volumes. */
export const allocParts = ({ parts }: Pick<Owned, 'parts'>): PartView[] =>
  Object.entries(parts).map(([name, { at, reason, failure }]) => {
    const why = reason ?? failure?.message;
    return { id: `volume/${name}`, chart: allocVolumeMachine.id, at, ...(why !== undefined && { why }) };
  });
