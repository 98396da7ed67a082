/**
 * From starting an agent to its plugin healthy, and the answers of commands, against a node process that does nothing; the
 * memory of an idle agent.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { AgentProcess, mainPath, makePlace, type Place, removePlace } from '../scenarios/agent-process.js';
import { byTurns, type Contender, report } from './measure.js';

const program = (name: string, args: string[]): Contender => ({
  name,
  async run() {
    execFileSync(process.execPath, args);
    return 1;
  },
});

const nothing = program('node -e 0', ['-e', '0']);

const fresh: Contender = {
  name: 'agent start to healthy plugin, nothing there yet',
  async run() {
    const place = makePlace();
    const agent = new AgentProcess(place);
    try {
      await agent.line(healthy);
      return 1;
    } finally {
      removePlace(place, agent);
    }
  },
};

const healthy = /plugin hostpath \(csi-node\): healthy/;

const commands = ({ configPath, socketPath }: Place): Contender[] => [
  program('stagecraft --version', [mainPath, '--version']),
  program('stagecraft volume list --socket', [mainPath, 'volume', 'list', '--socket', socketPath]),
  program('stagecraft volume list --config', [mainPath, 'volume', 'list', '--config', configPath]),
];

/** Time after which an agent has given back what only its start has used. */
const idleMs = 12_000;

/** Resident memory of a process in MB: what is its own, and what is mapped from files. */
function residentOf(pid: number | undefined): string {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const [all, own, files] = ['VmRSS', 'RssAnon', 'RssFile'].map(
    (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1_024,
  );
  return `${all?.toFixed(0)} MB: ${own?.toFixed(0)} of its own, ${files?.toFixed(0)} mapped from files`;
}

export async function reportStart(): Promise<void> {
  report('agent start', 'starts/s', await byTurns([nothing, fresh]));
  const place = makePlace();
  const agent = new AgentProcess(place);
  try {
    await agent.line(healthy);
    await pause(idleMs);
    console.log(`\nResident memory of an idle agent\n  ${residentOf(agent.child.pid)}`);
    report('commands', 'answers/s', await byTurns([nothing, ...commands(place)]));
  } finally {
    removePlace(place, agent);
  }
}
