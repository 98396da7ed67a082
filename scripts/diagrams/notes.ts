/** Makes the notes of a picture: what its events and conditions mean, as the prose says it. */
import type { Card } from './cards.js';

export interface Note {
  title: string;
  lines: { name: string; text: string }[];
}

export const howToRead: Note = {
  title: 'How to read',
  lines: [
    { name: '→ X', text: 'the state that follows' },
    { name: '[X]', text: 'only if that holds; [otherwise]: no other condition of the event holds' },
    {
      name: 'stays',
      text: 'the state stays as it is; if it wants a call, that is made again, after a pause if it has failed',
    },
    { name: 'no row', text: 'the event does not come there, or changes nothing' },
  ],
};

/**
 * Reads lines of the prose about events (`- on`) and conditions (`- if`), as far as the cards have them.
 * @param common prose for all parts; `*.done` stands for all events that end with `.done`
 */
export function notesOf(cards: Card[], prose: string, common: string): Note[] {
  const events = cards.flatMap(({ rows }) => rows.flatMap((row) => row.events));
  const names = new Set(events.map(({ name }) => name));
  const conditions = new Set(events.flatMap((event) => event.conditions.flatMap((one) => one.split(', '))));
  const said = linesIn(prose, common, 'on');
  const unsaid = [...names].filter((event) => !said.some(({ name }) => name === event));
  const isEvent = (name: string): boolean =>
    name.startsWith('*') ? unsaid.some((event) => event.endsWith(name.slice(1))) : names.has(name);
  const isCondition = (name: string): boolean =>
    [...conditions].some((one) => one === name || one.split(': ')[0] === name);
  const notes: Note[] = [
    howToRead,
    { title: 'Events', lines: said.filter(({ name }) => isEvent(name)) },
    { title: 'Conditions', lines: linesIn(prose, common, 'if').filter(({ name }) => isCondition(name)) },
  ];
  return notes.filter(({ lines }) => lines.length > 0);
}

/** Lines of both texts by name. The prose of the machine comes before what holds for all. */
function linesIn(prose: string, common: string, kind: 'on' | 'if'): Note['lines'] {
  const lines = `${prose}\n${common}`.matchAll(new RegExp(`^- ${kind} \`([^\`]+)\`: (.*?)[.]?$`, 'gm'));
  const byName = new Map<string, string>();
  for (const [, name = '', text = ''] of lines) if (!byName.has(name)) byName.set(name, text);
  return [...byName].map(([name, text]) => ({ name, text }));
}
