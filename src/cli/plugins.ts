/** `stagecraft plugin`: shows the plugins and their health. */
import type { Command } from 'commander';
import { AgentError } from '../client/agent-error.js';
import { type LookOptions, lookAll, lookAt, lookAtAgent, soon } from './connection.js';
import { print, printJson, warn } from './output.js';
import { failedTasks, lineChars, pluginDetails, pluginTable } from './print.js';

export function addPluginCommands(program: Command): void {
  const plugin = program.command('plugin').description('show plugins and their health');
  lookAll(plugin.command('list').description('list plugins with their state')).action(listPlugins);
  lookAt(plugin.command('status <name>').description('show one plugin in detail')).action(showPlugin);
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
