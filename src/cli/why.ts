/** `stagecraft why`: how an actor is, what it waits for, since when, and what to do. */
import type { Command } from 'commander';
import type { ActorDetail, HistoryPage } from '../inspector/answers.js';
import { type LookOptions, look, lookAt, print, printJson, socketOf } from './connection.js';
import { addressIn } from './history.js';
import { whyText } from './print-why.js';
import { type InNamespace, inNamespace } from './requests.js';

export function addWhy(program: Command): void {
  inNamespace(
    lookAt(
      program
        .command('why <address> [name]')
        .description("say how an actor is, what it waits for and what to do: its address, or 'volume NAME'"),
    ),
    'volume',
  ).action(explain);
}

async function explain(given: string, name: string | undefined, options: LookOptions & InNamespace): Promise<void> {
  const socketPath = socketOf(options);
  const path = encodeURIComponent(addressIn(given, name, options));
  const detail = await look<ActorDetail>(socketPath, `/v1/actors/${path}`);
  const history = await look<HistoryPage>(socketPath, `/v1/history/${path}`);
  if (options.json) printJson({ ...detail, history: history.lines });
  else print(whyText(detail, history, Date.now()));
}
