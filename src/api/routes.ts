/** All requests of the agent's API: the same contract for the server, the document and the client. */
import { actorRoutes, eventRoutes } from './actor-routes.js';
import { agentRoutes, clusterRoutes, pluginRoutes, taskRoutes } from './agent-routes.js';
import { allocRoutes, mountRoutes, nodeRoutes } from './node-routes.js';
import type { paths } from './paths.js';
import type { Route } from './route.js';
import { groupSnapshotRoutes, snapshotRoutes, volumeRoutes } from './volume-routes.js';

type RoutesAt<TPaths> = {
  [Key in keyof TPaths]: TPaths[Key] extends string ? Route<TPaths[Key]> : RoutesAt<TPaths[Key]>;
};

export const routes = {
  agent: agentRoutes,
  cluster: clusterRoutes,
  plugins: pluginRoutes,
  tasks: taskRoutes,
  volumes: volumeRoutes,
  snapshots: snapshotRoutes,
  groupSnapshots: groupSnapshotRoutes,
  allocs: allocRoutes,
  mounts: mountRoutes,
  nodes: nodeRoutes,
  actors: actorRoutes,
  events: eventRoutes,
} satisfies RoutesAt<typeof paths>;
