/** Changes that this agent's feed does not have: those of volumes, snapshots and nodes while another agent works on them. */
import { withTicket } from './api.js';

const topics = ['volumes', 'snapshots', 'groupSnapshots', 'nodes', 'leadership'];
/** Time from a change until all is read again: further changes are read with it. */
const gatherMs = 1_000;
const retryMs = 1_000;

/**
 * Calls back some time after changes of volumes, snapshots, nodes or the leader, and when some may have been missed.
 * @param changed gets whether another agent leads from now on
 * @returns a function that ends it
 */
export function onChangeElsewhere(changed: (isLeader: boolean) => void): () => void {
  let gathering: ReturnType<typeof setTimeout> | undefined;
  let retrying: ReturnType<typeof setTimeout> | undefined;
  let isLeader = false;
  let isEnded = false;
  let source: EventSource | undefined;
  const tell = (topic?: string): void => {
    isLeader ||= topic === 'leadership';
    gathering ??= setTimeout(() => {
      gathering = undefined;
      changed(isLeader);
      isLeader = false;
    }, gatherMs);
  };
  const retry = (): void => {
    source?.close();
    clearTimeout(retrying);
    retrying = setTimeout(() => void follow().then(() => tell(), retry), retryMs);
  };
  // Each connection needs a ticket of its own: the browser can't connect again by itself.
  const follow = async (): Promise<void> => {
    const path = await withTicket(`/v1/events?topic=${topics.join(',')}`);
    if (isEnded) return;
    source = new EventSource(path);
    source.onerror = retry;
    for (const topic of topics) source.addEventListener(topic, () => tell(topic));
  };
  follow().catch(retry);
  return () => {
    isEnded = true;
    source?.close();
    clearTimeout(gathering);
    clearTimeout(retrying);
  };
}
