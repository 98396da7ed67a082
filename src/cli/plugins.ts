/** `stagecraft plugin`: shows the plugins and their health. */
import type { Command } from 'commander';
import type { PluginReport } from '../agent/api.js';
import { AgentError } from './client.js';
import { type LookOptions, look, lookAll, lookAt, lookAtTasks, print, printJson, socketOf } from './connection.js';
import { failedTasks, lineChars, pluginDetails, pluginTable } from './print.js';

export function addPluginCommands(program: Command): void {
  const plugin = program.command('plugin').description('show plugins and their health');
  lookAll(plugin.command('list').description('list plugins with their state')).action(listPlugins);
  lookAt(plugin.command('status <name>').description('show one plugin in detail')).action(showPlugin);
}

async function listPlugins(options: LookOptions): Promise<void> {
  const socketPath = socketOf(options);
  const plugins = await look<PluginReport[]>(socketPath, '/v1/plugins');
  if (options.json) printJson(plugins);
  else print(pluginTable(plugins, lineChars(options)));
  // The list does not show plugins whose task has failed: they are not registered any more.
  for (const line of failedTasks(await lookAtTasks(socketPath))) process.stderr.write(`${line}\n`);
}

async function showPlugin(name: string, options: LookOptions): Promise<void> {
  const query = new URLSearchParams({ name });
  const plugins = await look<PluginReport[]>(socketOf(options), `/v1/plugins?${query}`);
  if (plugins.length === 0)
    throw new AgentError(
      'PLUGIN_NOT_FOUND',
      `there is no plugin '${name}': see stagecraft plugin list, and task list for plugins that did not start`,
    );
  if (options.json) printJson(plugins);
  else print(plugins.map(pluginDetails).join('\n\n'));
}
