/** `stagecraft actor`: lists the actors of a node, resumes those that are out of service, and sends requests by hand. */
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import type { ActorReport } from '../api/actor-routes.js';
import { misuse } from './arguments.js';
import { agentAt, type LookOptions, lookAll, lookAt, lookAtAgent, soon } from './connection.js';
import { print, printJson } from './output.js';
import { lineChars, table } from './print.js';

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

const actorTable = (actors: ActorReport[], maxChars?: number): string =>
  table(
    ['ADDRESS', 'STATE', 'SEQ', 'OUT OF SERVICE'],
    actors.map(({ address, path = '-', seq, quarantined }) => [
      address,
      path,
      seq === undefined ? '-' : String(seq),
      quarantined ?? '-',
    ]),
    maxChars,
  );

async function releaseActor(address: string, options: LookOptions): Promise<void> {
  const agent = await agentAt(options);
  await agent.actors.release({ body: { address } });
  if (!options.json) return print(`${address} is in service`);
  const actors = await agent.actors.list(soon);
  // An idle actor may be passivated already: then the list lacks it.
  const released: ActorReport = actors.find((actor) => actor.address === address) ?? { address };
  printJson(released);
}

interface SendOptions extends LookOptions {
  data?: string;
  yes?: boolean;
}

/** `stagecraft actor send`: sends an actor a request by hand, where the agent allows it. */
function addSend(actor: Command): void {
  lookAt(
    actor
      .command('send <address> <type>')
      .description(
        'send an actor a request that it takes now, in your name: its journal keeps it; see `why` for its state',
      ),
  )
    .option('--data <json>', 'further fields of the event, as a JSON object')
    .option('--yes', 'send it; without this it is only shown')
    .action(send);
}

async function send(address: string, type: string, { data, yes, ...options }: SendOptions): Promise<void> {
  const agent = await lookAtAgent(options);
  const event = { ...fieldsIn(data), type };
  const { state, accepts } = await agent.actors.inspect({ params: { address }, ...soon });
  if (!yes) {
    const takes = accepts.includes(type) ? '' : `; it takes only ${accepts.join(', ') || 'none'}`;
    throw misuse(`nothing was sent: ${address} is ${state}${takes}. With --yes it gets ${JSON.stringify(event)}`);
  }
  const { answer } = await agent.actors.send({ body: { address, event, by: userInfo().username } });
  if (options.json) printJson({ answer });
  else print(`${address} has taken ${type}${answer === null ? '' : `: ${JSON.stringify(answer)}`}`);
}

function fieldsIn(text = '{}'): object {
  try {
    const fields: unknown = JSON.parse(text);
    if (fields instanceof Object && !Array.isArray(fields)) return fields;
  } catch {
    // told below
  }
  throw misuse(`--data takes a JSON object, such as '{"nodeId":"worker-1"}', not ${text}`);
}
