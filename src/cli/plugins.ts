/** `stagecraft plugin`: shows the plugins and their health; registers and deregisters those that somebody else runs. */
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import type { PluginReport } from '../api/agent-routes.js';
import { AgentError } from '../client/agent-error.js';
import { collect, pairs } from './arguments.js';
import { agentAt, type LookOptions, lookAll, lookAt, lookAtAgent, soon } from './connection.js';
import { print, printJson, tell, warn } from './output.js';
import { factsTable, lineChars, segmentsOf, table } from './print.js';
import { failedTasks } from './tasks.js';

export function addPluginCommands(program: Command): void {
  const plugin = program.command('plugin').description('show plugins and their health; register those of others');
  lookAll(plugin.command('list').description('list plugins with their state')).action(listPlugins);
  lookAt(plugin.command('status <name>').description('show one plugin in detail')).action(showPlugin);
  ofOthers(plugin.command('register <name>').description('register a plugin that somebody else runs, until deregister'))
    .requiredOption('--at <path>', 'socket of the plugin, as this host sees it', (path) => resolve(path))
    .option(
      '--option <key=value>',
      'option as of a task: scope, controllers, stagePublishBaseDir; repeatable',
      collect,
      [],
    )
    .action(registerPlugin);
  ofOthers(
    plugin.command('deregister <name>').description('forget a registered plugin; its process is left alone'),
  ).action(deregisterPlugin);
}

const ofOthers = (command: Command): Command =>
  lookAt(command)
    .addOption(
      new Option('--type <types...>', 'which sides of the plugin its socket serves')
        .choices(['csi-controller', 'csi-node'])
        .makeOptionMandatory(),
    )
    .option('--instance <id>', 'names it among other instances of the same plugin', 'external');

interface OfOthers extends LookOptions {
  type: string[];
  instance: string;
}

interface Registration extends OfOthers {
  at: string;
  option: string[];
}

async function registerPlugin(name: string, { type, instance, at, option, ...look }: Registration): Promise<void> {
  const agent = await agentAt(look);
  const options = option.length > 0 && { options: pairs('--option', option) };
  for (const side of type)
    await agent.plugins.register({
      body: { type: side, name, allocId: instance, connection: { socketPath: at }, ...options },
    });
  tell(look, `plugin ${name} is registered at ${at}: see stagecraft plugin status ${name}`);
}

async function deregisterPlugin(name: string, { type, instance, ...look }: OfOthers): Promise<void> {
  const agent = await agentAt(look);
  for (const side of type)
    await agent.plugins.deregister({ params: { type: side, name }, body: { allocId: instance } });
  tell(look, `plugin ${name} is deregistered; its process is left alone`);
}

async function listPlugins(options: LookOptions): Promise<void> {
  const agent = await lookAtAgent(options);
  const plugins = await agent.plugins.list(soon);
  if (options.json) printJson(plugins);
  else print(pluginTable(plugins, lineChars(options)));
  // The list does not show plugins whose task has failed: they are not registered any more.
  for (const line of failedTasks(await agent.tasks.list(soon))) warn(line);
}

async function showPlugin(name: string, options: LookOptions): Promise<void> {
  const plugins = await (await lookAtAgent(options)).plugins.list({ query: { name }, ...soon });
  if (plugins.length === 0)
    throw new AgentError(
      'PLUGIN_NOT_FOUND',
      `there is no plugin '${name}': see stagecraft plugin list, and task list for plugins that did not start`,
    );
  if (options.json) printJson(plugins);
  else print(plugins.map(pluginDetails).join('\n\n'));
}

const pluginTable = (plugins: PluginReport[], maxChars?: number): string =>
  plugins.length === 0
    ? 'no plugins are registered'
    : table(
        ['NAME', 'TYPE', 'STATE', 'DRIVER', 'VERSION', 'INSTANCES', 'DESCRIPTION'],
        plugins.map(({ info, state, fingerprint, instances, description }) => [
          info.name,
          info.type,
          state,
          fingerprint.pluginName ?? '-',
          fingerprint.vendorVersion ?? '-',
          String(instances),
          description,
        ]),
        maxChars,
      );

function pluginDetails({ info, state, description, fingerprint, checkedAt, instances }: PluginReport): string {
  const {
    pluginName = '-',
    vendorVersion = '-',
    capabilities,
    pluginCapabilities,
    nodeId,
    maxVolumes,
    topology,
    scope = 'shared',
  } = fingerprint;
  const listed = (items: string[] | undefined): string => (items ? items.join(', ') || 'none' : 'not known yet');
  const facts: [string, string][] = [
    ['plugin', `${info.name} (${info.type})`],
    ['state', `${state}: ${description}`],
    ['checked', checkedAt === undefined ? 'not since the agent started' : new Date(checkedAt).toISOString()],
    ['driver', `${pluginName} ${vendorVersion}`],
    ['plugin offers', listed(pluginCapabilities)],
    ['service offers', listed(capabilities)],
    ['scope', info.options?.scope ?? scope],
    ['node id', nodeId ?? '-'],
    ['max volumes', maxVolumes === undefined ? 'no limit' : String(maxVolumes)],
    ['topology', segmentsOf(topology)],
    ['socket', info.connection.socketPath],
    ['instance', `${info.allocId}, of ${instances}`],
  ];
  return factsTable(facts);
}
