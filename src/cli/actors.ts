/** `stagecraft actor`: looks at the machines behind it all, and takes them back into service. */
import type { Command } from 'commander';
import type { ActorReport } from '../agent/api.js';
import { askAgent } from './client.js';
import { type LookOptions, look, lookAll, lookAt, print, printJson, socketOf } from './connection.js';
import { actorTable, lineChars } from './print.js';

export function addActorCommands(program: Command): void {
  const actor = program.command('actor').description('look at the machines behind it all');
  lookAll(
    actor.command('list').description('every machine of this node, its state, and which are out of service'),
  ).action(listActors);
  lookAt(
    actor
      .command('release <address>')
      .description('take one back into service that crashed too often or was unreadable'),
    'for programs: the actor as actor list --json has it',
  ).action(releaseActor);
}

async function listActors(options: LookOptions): Promise<void> {
  const actors = await look<ActorReport[]>(socketOf(options), '/v1/actors');
  if (options.json) printJson(actors);
  else print(actorTable(actors, lineChars(options)));
}

async function releaseActor(address: string, options: LookOptions): Promise<void> {
  const socketPath = socketOf(options);
  await askAgent(socketPath, 'POST', '/v1/actors/release', { body: { address } });
  if (!options.json) return print(`${address} is in service`);
  const actors = await look<ActorReport[]>(socketPath, '/v1/actors');
  // One that has nothing to do may have left memory, and the list.
  const released: ActorReport = actors.find((actor) => actor.address === address) ?? { address };
  printJson(released);
}
