/** `stagecraft agent`: runs the agent of this node. */

import type { Command } from 'commander';
import { findConfig } from '../agent/find-config.js';
import { firstLine } from '../host/terminal-text.js';
import { configDefault } from './connection.js';
import { print } from './output.js';
import { firstSignal } from './signals.js';

export function addAgent(program: Command): void {
  program
    .command('agent')
    .description('run the agent of this node until SIGTERM or SIGINT; plugin processes keep running after it')
    .option('--config <file>', `a YAML file; ${configDefault}; see docs/configuration.md`)
    .action(runAgent);
}

async function runAgent({ config }: { config?: string }): Promise<void> {
  const asked = firstSignal(); // before the start: a signal during the start ends the agent right after it
  const [{ loadConfig }, { startAgent }] = await Promise.all([
    import('../agent/config.js'),
    import('../agent/agent.js'),
  ]);
  const agent = await startAgent(loadConfig(findConfig(config)), (line) => print(firstLine(line)));
  // A failure to stop also rejects `agent.ended`, awaited below.
  asked.then(() => agent.stop()).catch(() => {});
  await agent.ended;
}
