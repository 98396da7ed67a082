/** What those who ask and watch actors need of an engine: theirs may come and go (elected-engine.ts). */
import type { Engine } from './engine.js';

export type ActorDoor = Pick<Engine, 'ask' | 'read' | 'page' | 'peek' | 'has' | 'observe' | 'follow' | 'storeTrouble'>;
