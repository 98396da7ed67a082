/** Path of the agent's socket. A file of its own, so that commands load nothing else of the agent. */
import { join } from 'node:path';
import { socketRootOf } from '../host/data-dir.js';

export const agentSocketPath = (dataDir: string): string => join(socketRootOf(dataDir), 'agent.sock');
