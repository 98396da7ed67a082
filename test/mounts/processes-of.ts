/** Processes of this host, as /proc shows them. */
import { readdirSync, readFileSync } from 'node:fs';

interface Running {
  pid: string;
  /** E.g. `S`, and `D` for what can't be killed. */
  state: string;
}

/** The processes that have this among their arguments. */
export function processesOf(argument: string): Running[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const isOne = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(1).includes(argument);
      if (!isOne) return [];
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      return [{ pid, state: stat.slice(stat.lastIndexOf(')') + 2).charAt(0) }];
    } catch {
      return []; // it has ended by now
    }
  });
}
