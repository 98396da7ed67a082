/** Changes of an actor's past, as a form asks for them. Pure. */
import type { Edit } from '../../api/actor-routes.js';

/** Kinds of change, in the order of the form. */
export const editKinds = { insert: 'Put an event in after it', edit: 'Change its event', drop: 'Leave it out' };
export type EditKind = keyof typeof editKinds;

/** The change that a form asks for, or what is wrong with it. */
export function editOf(kind: EditKind, seq: number, text: string): Edit | { fault: string } {
  if (kind === 'drop') return { drop: seq };
  const found = eventIn(text);
  if ('fault' in found) return found;
  return kind === 'edit' ? { edit: seq, event: found.event } : { after: seq, event: found.event };
}

/** Reads an event that somebody wrote as JSON. */
export function eventIn(text: string): { event: { type: string } } | { fault: string } {
  let event: unknown;
  try {
    event = JSON.parse(text);
  } catch (error) {
    return { fault: `This is not JSON: ${error instanceof Error ? error.message : error}. Mend it, then try again.` };
  }
  const type: unknown = event instanceof Object ? Reflect.get(event, 'type') : undefined;
  if (typeof type !== 'string' || type === '')
    return { fault: 'An event is an object with a "type", such as {"type": "volume.delete"}. Name the type.' };
  return { event: { ...(event as object), type } };
}

/** Describes the edits, for the bar above the chart. */
export function describeEdits(edits: readonly Edit[]): string {
  return edits
    .map((edit) => {
      if ('drop' in edit) return `step ${edit.drop} had not come`;
      return 'edit' in edit
        ? `step ${edit.edit} had been ${edit.event.type}`
        : `${edit.event.type} had come after step ${edit.after}`;
    })
    .join(', and ');
}

/** Whether the changes touch a step: what came before is as it was. Steps that are put in have decimals: 6.01 comes after 6. */
export const isChanged = (edits: readonly Edit[], seq: number): boolean =>
  edits.some((edit) => ('after' in edit ? seq > edit.after : seq >= ('drop' in edit ? edit.drop : edit.edit)));

/** Number of a step in another course. */
export const stepText = (seq: number): string => (Number.isInteger(seq) ? `${seq}` : 'new');
