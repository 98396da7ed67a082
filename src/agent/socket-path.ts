/** Where an agent is found: also for those who only ask it, and load nothing else of it. */
import { join } from 'node:path';
import { socketRootOf } from '../host/data-dir.js';

/** Where the agent of a data directory listens. */
export const agentSocketPath = (dataDir: string): string => join(socketRootOf(dataDir), 'agent.sock');
