/** The processes of a task as they are at this moment, for tests: without waiting, and not by what is tested. */
import { readdirSync, readFileSync } from 'node:fs';
import type { ProcessIdentity } from '../../machines/task/task-types.js';
import { groupOf, identify } from '../../src/tasks/processes.js';

/** Those that bear its mark, `<data directory>#<id>`. */
export function findProcesses(mark: string): { identity: ProcessIdentity; group: number }[] {
  return readdirSync('/proc').flatMap((entry) => {
    const identity = identify(Number(entry));
    if (!identity || !isMarked(identity, mark)) return [];
    const group = groupOf(identity);
    return group === undefined ? [] : [{ identity, group }];
  });
}

function isMarked({ pid }: ProcessIdentity, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`STAGECRAFT_TASK=${mark}`);
  } catch {
    return false; // it is gone
  }
}
