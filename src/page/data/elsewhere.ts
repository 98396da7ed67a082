/** Changes that this agent's feed does not have: those of volumes, snapshots and nodes while another agent works on them. */

const topics = ['volumes', 'snapshots', 'groupSnapshots', 'nodes', 'leadership'];
/** Time from a change until all is read again: further changes are read with it. */
const gatherMs = 1_000;

/**
 * Calls back some time after changes of volumes, snapshots, nodes or the leader.
 * @param changed gets whether another agent leads from now on
 * @returns a function that ends it
 */
export function onChangeElsewhere(changed: (isLeader: boolean) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isLeader = false;
  const source = new EventSource(`/v1/events?topic=${topics.join(',')}`);
  for (const topic of topics)
    source.addEventListener(topic, () => {
      isLeader ||= topic === 'leadership';
      timer ??= setTimeout(() => {
        timer = undefined;
        changed(isLeader);
        isLeader = false;
      }, gatherMs);
    });
  return () => {
    source.close();
    clearTimeout(timer);
  };
}
