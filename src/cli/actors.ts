/** `stagecraft actor`: lists the actors of a node, and resumes those that are out of service. */
import type { Command } from 'commander';
import type { ActorReport } from '../api/actor-routes.js';
import { agentAt, type LookOptions, lookAll, lookAt, lookAtAgent, soon } from './connection.js';
import { print, printJson } from './output.js';
import { actorTable, lineChars } from './print.js';
import { addSend } from './send.js';

export function addActorCommands(program: Command): void {
  const actor = program.command('actor').description('inspect actors, and resume those that are out of service');
  lookAll(
    actor.command('list').description('list the actors of this node, their states, and which are out of service'),
  ).action(listActors);
  lookAt(
    actor
      .command('release <address>')
      .description('resume an actor that is out of service: it crashed too often, or its record was unreadable'),
    'for programs: the actor, as in actor list --json',
  ).action(releaseActor);
  addSend(actor);
}

async function listActors(options: LookOptions): Promise<void> {
  const actors = await (await lookAtAgent(options)).actors.list(soon);
  if (options.json) printJson(actors);
  else print(actorTable(actors, lineChars(options)));
}

async function releaseActor(address: string, options: LookOptions): Promise<void> {
  const agent = await agentAt(options);
  await agent.actors.release({ body: { address } });
  if (!options.json) return print(`${address} is in service`);
  const actors = await agent.actors.list(soon);
  // An idle actor may be passivated already: then the list lacks it.
  const released: ActorReport = actors.find((actor) => actor.address === address) ?? { address };
  printJson(released);
}
