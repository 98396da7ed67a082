/**
 * Mounts that an agent has made at another place under the same node id: another data directory, or another host. The present
 * agent can't see them. Pure. Why: docs/decisions/0035-mounts-of-a-replaced-agent.md
 */

/** Data directory of an agent. */
export interface AgentPlace {
  /** Tells data directories apart, over restarts of the host. */
  id: string;
  dataDir: string;
  host: string;
}

/** The place where a volume was mounted, and the moment from which another agent had the node. */
export interface FormerMount extends AgentPlace {
  /** Milliseconds since the epoch. */
  replacedAtMs: number;
}

/** By the address of the mount. */
export type FormerMountsByAddress = Record<string, FormerMount>;

/** The place of an agent, and what the records of its node show as mounted. */
export interface MountsOf {
  place: AgentPlace;
  /** Addresses of all mounts whose volumes are here, or may be. */
  mounts: string[];
}

interface Known {
  place?: AgentPlace;
  former?: FormerMountsByAddress;
}

/** Notes the place. Mounts of the place before are former ones from here on; those of this place are its own again. */
export function placed({ place: before, former = {} }: Known, { place, mounts }: MountsOf, at: number): Known {
  const left = before && before.id !== place.id ? { ...before, replacedAtMs: at } : undefined;
  const all = mounts.flatMap((address): [string, FormerMount][] => {
    const known = former[address] ?? left;
    return known && known.id !== place.id ? [[address, known]] : [];
  });
  return { place, ...((all.length > 0 || Object.keys(former).length > 0) && { former: Object.fromEntries(all) }) };
}

/** Says who has made the mounts, and what to do. */
export const describeFormer = (nodeId: string, { dataDir, host, replacedAtMs }: FormerMount): string =>
  `it was mounted on node ${nodeId} by the agent of ${dataDir} on host ${host}, which another agent with the same nodeId has replaced since ${new Date(replacedAtMs).toISOString()}, and it may be mounted there still: start that agent on its data directory again instead of this one, and release it there; or make sure that nothing there uses it any more, then fence node ${nodeId}`;
