/** Every request of the agent's HTTP API: its method and its path. What each takes and answers: routes.ts */
export const paths = {
  agent: {
    status: 'GET /v1/agent',
    drain: 'POST /v1/drain',
    inspector: 'GET /v1/inspector',
    openapi: 'GET /v1/openapi.json',
    metrics: 'GET /metrics',
    health: 'GET /healthz',
    ready: 'GET /readyz',
  },
  cluster: { status: 'GET /v1/cluster' },
  plugins: {
    list: 'GET /v1/plugins',
    status: 'GET /v1/plugins/:type/:name',
    register: 'POST /v1/plugins',
    deregister: 'POST /v1/plugins/:type/:name/deregister',
  },
  tasks: {
    list: 'GET /v1/tasks',
    status: 'GET /v1/tasks/:id',
    logs: 'GET /v1/tasks/:id/logs',
    stop: 'POST /v1/tasks/:id/stop',
    remove: 'POST /v1/tasks/:id/remove',
    restart: 'POST /v1/tasks/:id/restart',
  },
  volumes: {
    list: 'GET /v1/volumes',
    create: 'POST /v1/volumes',
    get: 'GET /v1/volumes/:namespace/:id',
    publish: 'POST /v1/volumes/:namespace/:id/publish',
    unpublish: 'POST /v1/volumes/:namespace/:id/unpublish',
    expand: 'POST /v1/volumes/:namespace/:id/expand',
    modify: 'POST /v1/volumes/:namespace/:id/modify',
    delete: 'POST /v1/volumes/:namespace/:id/delete',
    claim: 'POST /v1/volumes/:namespace/:id/claim',
    release: 'POST /v1/volumes/:namespace/:id/release',
    setAvailability: 'POST /v1/volumes/:namespace/:id/availability',
    retry: 'POST /v1/volumes/:namespace/:id/retry',
    acknowledge: 'POST /v1/volumes/:namespace/:id/acknowledge',
    capacity: 'POST /v1/capacity',
    reconcile: 'POST /v1/reconcile',
    // Outside /v1/volumes, where volumes may have any name.
    orphans: 'GET /v1/orphaned-volumes',
  },
  snapshots: {
    list: 'GET /v1/snapshots',
    create: 'POST /v1/snapshots',
    get: 'GET /v1/snapshots/:namespace/:id',
    delete: 'POST /v1/snapshots/:namespace/:id/delete',
    retry: 'POST /v1/snapshots/:namespace/:id/retry',
    acknowledge: 'POST /v1/snapshots/:namespace/:id/acknowledge',
  },
  groupSnapshots: {
    list: 'GET /v1/group-snapshots',
    create: 'POST /v1/group-snapshots',
    get: 'GET /v1/group-snapshots/:namespace/:id',
    delete: 'POST /v1/group-snapshots/:namespace/:id/delete',
    retry: 'POST /v1/group-snapshots/:namespace/:id/retry',
    acknowledge: 'POST /v1/group-snapshots/:namespace/:id/acknowledge',
  },
  allocs: {
    list: 'GET /v1/allocs',
    status: 'GET /v1/allocs/:allocId',
    prepare: 'POST /v1/allocs/:allocId/prepare',
    release: 'POST /v1/allocs/:allocId/release',
  },
  mounts: {
    list: 'GET /v1/mounts',
    stats: 'GET /v1/mounts/:namespace/:id/stats',
    retry: 'POST /v1/mounts/:namespace/:id/retry',
    // Outside /v1/mounts, where volumes may have any name.
    orphans: 'GET /v1/orphaned-mounts',
    cleanOrphan: 'POST /v1/orphaned-mounts/clean',
  },
  nodes: {
    list: 'GET /v1/nodes',
    status: 'GET /v1/nodes/:id',
    report: 'POST /v1/nodes/:id/report',
    down: 'POST /v1/nodes/:id/down',
    fence: 'POST /v1/nodes/:id/fence',
    remove: 'POST /v1/nodes/:id/remove',
    reportUnstaged: 'POST /v1/nodes/:id/unstaged',
  },
  actors: {
    list: 'GET /v1/actors',
    overview: 'GET /v1/overview',
    inspect: 'GET /v1/actors/:address',
    history: 'GET /v1/history/:address',
    journal: 'GET /v1/journal/:address',
    moments: 'GET /v1/moments/:address',
    exportJournals: 'GET /v1/journal-export',
    whatIf: 'POST /v1/what-if',
    release: 'POST /v1/actors/release',
    send: 'POST /v1/actors/send',
  },
  events: { follow: 'GET /v1/events' },
} as const;

/** Splits a route's path: `['GET', '/v1/agent']`. */
export function methodAndUrl(path: string): { method: 'GET' | 'POST'; url: string } {
  const [method, url = ''] = path.split(' ');
  return { method: method === 'POST' ? 'POST' : 'GET', url };
}

/** Fields of queries. */
