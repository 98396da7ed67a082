/** Id of the present boot of this host. */
import { readFileSync } from 'node:fs';

let known: string | undefined;

/** Id of the boot that this process runs in. */
export function bootId(): string {
  known ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return known;
}
