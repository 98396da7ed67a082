/** Makes the notes of a picture: what its events and conditions mean, as the prose says it. */
import { grpcCodes } from '../../src/csi/grpc-codes.js';
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
    { name: 'start', text: 'a new one begins there; after a restart it goes on in the state that is stored' },
  ],
};

/**
 * Reads lines of the prose about events (`- on`) and conditions (`- if`), as far as the cards have them.
 * @param common prose for all parts; `*.done` stands for all events that end with `.done`
 */
export function notesOf(cards: Card[], prose: string, common: string): Note[] {
  const { events, conditions } = namesIn(cards);
  const said = linesIn(prose, common, 'on');
  const unsaid = events.filter((event) => !said.some(({ name }) => name === event));
  const isEvent = (name: string): boolean =>
    name.startsWith('*') ? unsaid.some((event) => isAbout(name, event)) : events.includes(name);
  const isCondition = (name: string): boolean => conditions.some((one) => isAbout(name, one));
  const notes: Note[] = [
    howToRead,
    { title: 'Events', lines: said.filter(({ name }) => isEvent(name)) },
    { title: 'Conditions', lines: linesIn(prose, common, 'if').filter(({ name }) => isCondition(name)) },
  ];
  return notes.filter(({ lines }) => lines.length > 0);
}

/** Names of the events and conditions that need an explanation. */
function namesIn(cards: Card[]): { events: string[]; conditions: string[] } {
  const events = cards.flatMap(({ rows }) => rows.flatMap((row) => row.events));
  const conditions = events.flatMap((event) => event.conditions.flatMap((one) => one.split(', ')));
  const plain = ['', 'at once', 'otherwise'];
  const unique = (names: string[]): string[] => [...new Set(names)].filter((name) => !plain.includes(name));
  return { events: unique(events.map(({ name }) => name)), conditions: unique(conditions) };
}

/** Whether the line `*.done`, `due now` or that of the name itself is about this event or condition. */
const isAbout = (line: string, name: string): boolean =>
  line.startsWith('*') ? name.endsWith(line.slice(1)) : line === name || line === name.split(': ')[0];

/** Finds what notes leave open: events and conditions without a line, and answers of the plugin that two lines claim. */
export function openIn(cards: Card[], notes: Note[]): string[] {
  const lines = notes.flatMap((note) => note.lines);
  const { events, conditions } = namesIn(cards);
  const isOpen = (name: string): boolean => !lines.some((line) => isAbout(line.name, name));
  const answers = lines.flatMap(({ text }) => [...text.matchAll(/\b([A-Z_]+)(?: to (\w+))?/g)]).filter(isAnswer);
  const twice = answers.filter(([, code, rpc], at) =>
    answers.slice(0, at).some(([, other, rpcOther]) => code === other && (!rpc || !rpcOther || rpc === rpcOther)),
  );
  return [
    ...events.filter(isOpen).map((name) => `needs a line that begins with "- on \`${name}\`: "`),
    ...conditions.filter(isOpen).map((name) => `needs a line that begins with "- if \`${name}\`: "`),
    ...twice.map(([answer]) => `says twice what ${answer} means`),
  ];
}

const isAnswer = ([, code]: RegExpMatchArray): boolean => grpcCodes.some((one) => one === code && one !== 'OK');

/** Lines of both texts by name. The prose of the machine comes before what holds for all. */
function linesIn(prose: string, common: string, kind: 'on' | 'if'): Note['lines'] {
  const lines = `${prose}\n${common}`.matchAll(new RegExp(`^- ${kind} \`([^\`]+)\`: (.*?)[.]?$`, 'gm'));
  const byName = new Map<string, string>();
  for (const [, name = '', text = ''] of lines) if (!byName.has(name)) byName.set(name, text);
  return [...byName].map(([name, text]) => ({ name, text: text.replaceAll('`', '') }));
}
