/** All volumes of an alloc together: what the alloc does with their steps (volume-steps.ts). Pure. */
import type { PartView } from '../kit/parts.js';
import type { AllocContext, AllocVolume, NamedStep } from './types.js';
import { type AllocMount, reported, type VolumePart, volumeSteps } from './volume-steps.js';

type Parts = AllocContext['parts'];

/** Volumes at their first step. */
export const begunParts = (volumes: readonly AllocVolume[]): Parts =>
  Object.fromEntries(volumes.map(({ name }) => [name, { at: 'preparing.claiming' }]));

/** @throws Error for a report that the run can't make at the step of the volume */
export function advanced(parts: Parts, steps: readonly NamedStep[]): Parts {
  const next = { ...parts };
  for (const { name, ...step } of steps) {
    const part = next[name];
    if (!part) throw new Error(`the alloc has no volume '${name}'`);
    next[name] = reported(part, step);
  }
  return next;
}

/**
 * Applies the last steps of a run.
 * @throws Error if a volume is not at such a step then
 */
export function completed(parts: Parts, steps: readonly NamedStep[], ends: readonly VolumePart['at'][]): Parts {
  const next = advanced(parts, steps);
  for (const [name, { at }] of Object.entries(next))
    if (!ends.includes(at)) throw new Error(`the work on volume '${name}' has ended, and it is ${at}`);
  return next;
}

export const mapped = (parts: Parts, change: (part: VolumePart, name: string) => VolumePart): Parts =>
  Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, change(part, name)]));

type Owned = Pick<AllocContext, 'volumes' | 'parts'>;

/** Mounts of the volumes in their order; null if not all are mounted. */
export function mountsOf({ volumes, parts }: Owned): AllocMount[] | null {
  const mounts = volumes.flatMap(({ name }) => parts[name]?.mount ?? []);
  return mounts.length === volumes.length ? mounts : null;
}

/** Reasons why volumes wait, by the volume's name. */
export const reasonsOf = ({ parts }: Pick<Owned, 'parts'>): Record<string, string> =>
  picked(parts, ({ reason }) => reason);

/** Generation of each claim, by the name of the volume, as far as it is known. */
export const generationsOf = ({ parts }: Pick<Owned, 'parts'>): Record<string, number> =>
  picked(parts, ({ generation }) => generation);

const picked = <T>(parts: Parts, pick: (part: VolumePart) => T | undefined): Record<string, T> =>
  Object.fromEntries(
    Object.entries(parts).flatMap(([name, part]) => {
      const found = pick(part);
      return found === undefined ? [] : [[name, found]];
    }),
  );

/** Parts of the alloc as they are shown: one for each volume. */
export const allocParts = ({ parts }: Pick<Owned, 'parts'>): PartView[] =>
  Object.entries(parts).map(([name, { at, reason, failure }]) => {
    const why = reason ?? failure?.message;
    const { why: words } = volumeSteps[at];
    return {
      ...{ id: `volume/${name}`, chart: 'alloc-volume', at },
      ...(words && { words }),
      ...(why !== undefined && { why }),
    };
  });
