/**
 * The commands by their first word, in the order of the help. A module is imported when its command is named: it declares
 * options, and imports what is heavy only when it runs.
 */
import type { Command } from 'commander';

type Adds = (program: Command) => void;

const commands: Record<string, () => Promise<Adds>> = {
  agent: async () => (await import('./agent.js')).addAgent,
  driver: async () => (await import('./driver.js')).addDriver,
  'driver-check': async () => (await import('./driver-check.js')).addDriverCheck,
  plugin: async () => (await import('./plugins.js')).addPluginCommands,
  task: async () => (await import('./tasks.js')).addTaskCommands,
  volume: async () => (await import('./volumes.js')).addVolumeCommands,
  snapshot: async () => (await import('./snapshots.js')).addSnapshotCommands,
  'group-snapshot': async () => (await import('./snapshots.js')).addGroupSnapshotCommands,
  alloc: async () => (await import('./allocs.js')).addAllocCommands,
  mount: async () => (await import('./mounts.js')).addMountCommands,
  node: async () => (await import('./nodes.js')).addNodeCommands,
  cluster: async () => (await import('./agents.js')).addCluster,
  actor: async () => (await import('./actors.js')).addActorCommands,
  events: async () => (await import('./events.js')).addEvents,
  history: async () => (await import('./history.js')).addHistory,
  why: async () => (await import('./why.js')).addWhy,
  replay: async () => (await import('./journal.js')).addReplay,
  journal: async () => (await import('./journal.js')).addJournalCommands,
  inspect: async () => (await import('./agents.js')).addInspect,
  drain: async () => (await import('./agents.js')).addDrain,
};

/** Adds the command that the arguments name. Adds all if they name none, as the help and the advice list them. */
export async function addCommands(program: Command, [first = '']: string[]): Promise<void> {
  if (first === '--version' || first === '-V') return;
  const named = Object.hasOwn(commands, first) ? commands[first] : undefined;
  const adds = await Promise.all((named ? [named] : Object.values(commands)).map((imported) => imported()));
  for (const add of adds) add(program);
}
