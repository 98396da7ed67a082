/** `runtime.cluster`: the agents on one store with their plugins, and which of them works on volumes. */
import type { PluginScope } from '../../machines/kit/csi-types.js';
import type { Cluster } from '../cluster/cluster.js';
import type { Member } from '../cluster/roster.js';
import type { RosterEntry } from '../cluster/roster-entry.js';
import type { Store } from '../engine/store.js';
import { StagecraftError } from '../errors.js';
import { electedIn, type Leadership, type Term } from './leadership.js';

export interface ClusterOverview {
  /**
   * All agents on the store, by node: those that are there, and for some minutes those that went silent. On a store for one
   * process that is this one.
   * @throws {StagecraftError} STORE_UNAVAILABLE
   */
  agents(): Promise<AgentStatus[]>;
  /**
   * The agent that works on volumes, nodes and snapshots; undefined: none does now.
   * @throws {StagecraftError} STORE_UNAVAILABLE
   */
  owner(): Promise<OwnerStatus | undefined>;
  /** Requests made here that the owner, another agent, has not answered yet. */
  readonly requestsUnderWay: number;
  /** Follows the changes of the owner. @see Leadership.updates */
  updates: Leadership['updates'];
}

export interface AgentStatus {
  nodeId: string;
  /** Name of its host. */
  host: string;
  /** Version of Stagecraft. */
  version: string;
  /** Level of what is stored that it reads. Absent: it is older than levels. */
  level?: number;
  /** Start of its present run, milliseconds since the epoch. */
  startedAtMs: number;
  isThis: boolean;
  /** Whether it works on volumes. */
  ownsVolumes: boolean;
  /** Moment of its last sign of life, milliseconds since the epoch. Absent: it is not away. */
  silentSinceMs?: number;
  /** By name, then type. */
  plugins: AgentPlugin[];
}

/** A side of a plugin as its own agent saw it last. */
export interface AgentPlugin {
  name: string;
  type: string;
  healthy: boolean;
  /** Reason why it can't be called. */
  trouble?: string;
  /** Name that the driver gives itself. */
  driver?: string;
  /** `host`: the volumes of each host are its own. Absent: the driver has not answered yet. */
  scope?: PluginScope;
}

/** The agent that works on volumes; `sinceMs`: when it took over. */
export interface OwnerStatus extends Term {
  nodeId: string;
  /** Moment of its last sign of life, if it is away: another agent takes over. */
  silentSinceMs?: number;
}

interface ClusterOverviewOptions {
  nodeId: string;
  /** The roster entry of this agent. */
  entry(): Omit<RosterEntry, 'inbox'>;
  leadership: Pick<Leadership, 'updates'>;
  /** The term of this agent; undefined: another one works on volumes, or none. */
  term(): Term | undefined;
  store: Pick<Store, 'readTopic'>;
  /** Undefined: the store is of one process. */
  cluster: Cluster | undefined;
}

export function clusterOverview(options: ClusterOverviewOptions): ClusterOverview {
  const { nodeId, entry, leadership, term, store, cluster } = options;
  const others = async (): Promise<Member[]> => {
    const members = cluster ? await cluster.roster.read() : new Map<string, Member>();
    return [...members.values()].filter((member) => member.nodeId !== nodeId);
  };
  const ownerAmong = async (members: readonly Member[]): Promise<OwnerStatus | undefined> => {
    const own = term();
    if (own) return { nodeId, ...own };
    const elected = await electedIn(store);
    const member = elected && members.find(({ inbox }) => inbox === elected.inbox);
    if (!member) return undefined;
    const { at: sinceMs, epoch } = elected;
    const { silentSinceMs } = member;
    return { nodeId: member.nodeId, sinceMs, epoch, ...(silentSinceMs !== undefined && { silentSinceMs }) };
  };
  return {
    agents: () =>
      fromStore(async () => {
        const members = await others();
        const owner = await ownerAmong(members);
        const own = { ...entry(), nodeId };
        return [own, ...members]
          .map((one) => agentOf(one, { isThis: one === own, ownsVolumes: one.nodeId === owner?.nodeId }))
          .toSorted((one, other) => (one.nodeId < other.nodeId ? -1 : 1));
      }),
    owner: () => fromStore(async () => ownerAmong(await others())),
    get requestsUnderWay() {
      return cluster?.requestsUnderWay ?? 0;
    },
    updates: (options) => leadership.updates(options),
  };
}

type Known = Omit<RosterEntry, 'inbox'> & Pick<Member, 'nodeId' | 'silentSinceMs'>;

function agentOf(known: Known, is: Pick<AgentStatus, 'isThis' | 'ownsVolumes'>): AgentStatus {
  const { nodeId, host, version, level, startedAtMs, silentSinceMs } = known;
  return {
    ...{ nodeId, host, version, ...(level !== undefined && { level }), startedAtMs, ...is },
    ...(silentSinceMs !== undefined && { silentSinceMs }),
    plugins: pluginsIn(known),
  };
}

const pluginsIn = ({ plugins }: Pick<RosterEntry, 'plugins'>): AgentPlugin[] =>
  Object.entries(plugins)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([name, { types, trouble, nodeTrouble, driver, scope }]) =>
      types.map((type): AgentPlugin => {
        const why = type === 'csi-node' ? nodeTrouble : trouble;
        return {
          ...{ name, type, healthy: why === undefined },
          ...(why !== undefined && { trouble: why }),
          ...(driver !== undefined && { driver }),
          ...(scope && { scope }),
        };
      }),
    );

async function fromStore<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (cause instanceof StagecraftError) throw cause;
    throw new StagecraftError('STORE_UNAVAILABLE', 'the store does not answer: ask again later', { cause });
  }
}
