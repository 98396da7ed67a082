/** Capabilities of a driver, asked of its handlers without the script. */
import type { CsiHandlers } from '../../csi/server.js';
import type { Offers } from './judge/violations.js';

/** Capabilities by service; none for a service that the driver lacks. */
export async function offersOf(handlers: CsiHandlers): Promise<Offers> {
  const call = { signal: new AbortController().signal };
  const controller = await handlers.ControllerGetCapabilities?.({}, call);
  const group = await handlers.GroupControllerGetCapabilities?.({}, call);
  const node = await handlers.NodeGetCapabilities?.({}, call);
  return {
    Controller: namesOf(controller?.capabilities),
    GroupController: namesOf(group?.capabilities),
    Node: namesOf(node?.capabilities),
  };
}

const namesOf = (capabilities: readonly { rpc?: { type?: string | undefined } | undefined }[] = []): string[] =>
  capabilities.flatMap(({ rpc }) => rpc?.type ?? []);
