/** `stagecraft/client`: asks a running agent from another process. */
export type * from '../api/actor-routes.js';
export type * from '../api/agent-routes.js';
export type * from '../api/node-routes.js';
export type * from '../api/volume-routes.js';
export { AgentError } from './agent-error.js';
export { type CallOptions, type Client, type ClientOptions, createClient } from './client.js';
