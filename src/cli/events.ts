/** `stagecraft events`: prints what has happened on an agent, and what happens. */
import type { Command } from 'commander';
import { eventTeller } from '../agent/describe-events.js';
import { collect } from './arguments.js';
import { type LookOptions, lookAt, print, socketOf } from './connection.js';
import { readEvents } from './event-stream.js';
import { oneLine } from './print.js';
import { firstSignal } from './signals.js';

interface EventsOptions extends LookOptions {
  follow?: boolean;
  from?: string;
  kind?: string[];
  topic?: string[];
  address?: string;
  plugin?: string;
}

export function addEvents(program: Command): void {
  lookAt(
    program.command('events').description('print the events of this agent that are kept, or follow what happens'),
    'one event per line, each with the id to go on from',
  )
    .option('--follow', 'print what happens from now on, until Ctrl-C')
    .option('--from <id>', "go on after this event; '0': all that are kept, and with --follow what happens then")
    .option('--topic <name>', 'only this topic: plugins, tasks, volumes …; repeatable', collect)
    .option('--kind <name>', 'only this kind of event, e.g. health; repeatable', collect)
    .option('--address <prefix>', 'only actors whose address begins so, e.g. volume/default/')
    .option('--plugin <name>', 'only events of this plugin and of what depends on it')
    .action(printEvents);
}

async function printEvents({
  follow = false,
  from,
  kind,
  topic,
  address,
  plugin,
  ...options
}: EventsOptions): Promise<void> {
  const query = new URLSearchParams({ follow: String(follow) });
  const given = { from, kind: kind?.join(','), topic: topic?.join(','), address, plugin };
  for (const [name, value] of Object.entries(given)) if (value !== undefined) query.set(name, value);
  const stop = new AbortController();
  if (follow) void firstSignal().then(() => stop.abort());
  const tell = eventTeller();
  await readEvents(socketOf(options), `/v1/events?${query}`, {
    signal: stop.signal,
    onEvent: ({ data }) => print(options.json ? data : oneLine(tell(JSON.parse(data)))),
  });
}
