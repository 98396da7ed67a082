/** Runs histories seed by seed, in this process or spread over others, until so many were run. */
import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type Report, runTask, type Task } from './task.js';

interface Voyage {
  /** The first seed; the others follow it. */
  seed: number;
  histories: number;
  stores: string;
  plansEach?: number;
  /** Child processes; 0: all in this one, for tests, which mocha spreads over processes already. Default one per core. */
  processes?: number;
  /** Called after each system. */
  progress?(done: Voyaged): void;
}

interface Voyaged {
  systems: number;
  histories: number;
  broken: Report[];
}

/** More than a few tell nothing new. */
const mostBroken = 5;

const path = fileURLToPath(new URL('./worker.ts', import.meta.url));

/** Seeds are 32 bits wide. */
const seedAfter = (seed: number, by: number): number => (seed + by) >>> 0;

export async function voyage(plan: Voyage): Promise<Voyaged> {
  const done: Voyaged = { systems: 0, histories: 0, broken: [] };
  let given = 0;
  const nextTask = (): Task | undefined => {
    if (done.histories >= plan.histories || done.broken.length >= mostBroken) return undefined;
    given += 1;
    const { seed, stores, plansEach } = plan;
    return { seed: seedAfter(seed, given - 1), stores, ...(plansEach === undefined ? {} : { plansEach }) };
  };
  const workThrough = async (runOne: (task: Task) => Promise<Report>, isOver = () => false): Promise<void> => {
    for (let task = nextTask(); task; task = isOver() ? undefined : nextTask()) {
      const report = await runOne(task);
      done.systems += 1;
      done.histories += report.histories;
      if (report.broken !== undefined) done.broken.push(report);
      plan.progress?.(done);
    }
  };
  const inChild = async (): Promise<void> => {
    const child = fork(path, { execArgv: ['--import=tsx'] });
    const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null;
    await workThrough((task) => run(child, task), isOver);
    if (!isOver()) child.disconnect();
  };
  const { processes = availableParallelism() } = plan;
  if (processes === 0) await workThrough(runTask);
  else await Promise.all(Array.from({ length: processes }, inChild));
  return done;
}

function run(child: ChildProcess, task: Task): Promise<Report> {
  return new Promise((resolve) => {
    const end = (report: Report): void => {
      child.off('message', end).off('exit', exit);
      resolve(report);
    };
    const exit = (code: number | null, signal: string | null): void =>
      end({ seed: task.seed, histories: 0, broken: `its process has ended (${code ?? signal})` });
    child.on('message', end).on('exit', exit);
    child.send(task);
  });
}
