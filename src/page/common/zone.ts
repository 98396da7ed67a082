/** Remembers the zone of the times that the reader has chosen. */
import { zone } from '../data/time.js';

const key = 'stagecraft-zone';
if (localStorage.getItem(key) === 'local') zone.value = 'local';

export function turnZone(): void {
  zone.value = zone.value === 'UTC' ? 'local' : 'UTC';
  localStorage.setItem(key, zone.value);
}
