/** Tells one boot of this host from the next. */
import { readFileSync } from 'node:fs';

let known: string | undefined;

/** Of the boot that this process runs in. */
export function bootId(): string {
  known ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return known;
}
