/** `stagecraft agent`: runs the agent of this node. */

import type { Command } from 'commander';
import type { AgentConfig } from '../agent/config.js';
import { findConfig } from '../agent/find-config.js';
import { messageOf } from '../errors.js';
import { firstLine, oneLine } from '../host/terminal-text.js';
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
  let isDue = false;
  let reload = (): void => {
    isDue = true;
  };
  // Without a listener a SIGHUP ends the process, as when the terminal of an agent is closed.
  process.on('SIGHUP', () => reload());
  const [{ loadConfig }, { startAgent }, { quietLmdb }] = await Promise.all([
    import('../agent/config.js'),
    import('../agent/agent.js'),
    import('../agent/quiet-lmdb.js'),
  ]);
  quietLmdb();
  const say = (line: string): void => print(firstLine(line));
  const read = (): AgentConfig => loadConfig(findConfig(config));
  const agent = await startAgent(read(), say);
  reload = () => {
    try {
      void agent.reload(read());
    } catch (error) {
      say(`the configuration stays as it was: ${oneLine(messageOf(error))}`);
    }
  };
  if (isDue) reload();
  // A failure to stop also rejects `agent.ended`, awaited below.
  asked.then(() => agent.stop()).catch(() => {});
  await agent.ended;
}
