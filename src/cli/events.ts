/** `stagecraft events`: prints what has happened on an agent, and what happens. */

import type { Command } from 'commander';
import { eventTeller } from '../agent/describe-events.js';
import { firstLine } from '../host/terminal-text.js';
import { collect } from './arguments.js';
import { agentAt, type LookOptions, lookAt } from './connection.js';
import { print, printJson } from './output.js';
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
  const stop = new AbortController();
  if (follow) void firstSignal().then(() => stop.abort());
  const tell = eventTeller();
  const query = {
    follow,
    ...(from !== undefined && { from }),
    ...(kind && { kind: kind.join(',') }),
    ...(topic && { topic: topic.join(',') }),
    ...(address !== undefined && { address }),
    ...(plugin !== undefined && { plugin }),
  };
  try {
    const agent = await agentAt(options);
    for await (const event of agent.events.follow({ query, signal: stop.signal }))
      if (options.json) printJson(event, 0);
      else print(firstLine(tell(event)));
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
}
