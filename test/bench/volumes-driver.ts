/** A driver in this process: makes and publishes what it is asked to at once, or after a time. Keeps nothing. */
import type { Fingerprint } from '../../dist/machines/plugin/plugin.js';
import type { Dispenser } from '../../dist/src/registry/dispenser.js';

const capabilities = ['CREATE_DELETE_VOLUME', 'PUBLISH_UNPUBLISH_VOLUME'];
const seenWell: Fingerprint = {
  healthy: true,
  description: 'ready',
  basic: { pluginName: 'bench.stagecraft', vendorVersion: '1', pluginCapabilities: ['CONTROLLER_SERVICE'] },
  capabilities,
};

const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface DriverOptions {
  /** How long each call takes; default: none. */
  callMs?: number;
  /** A name whose creation is never answered. */
  hangsOn?: (nth: number) => boolean;
}

/** The client that volumes of `csi-controller` are given. */
export function driverInProcess({ callMs = 0, hangsOn = () => false }: DriverOptions = {}): Dispenser {
  const taken = (): Promise<void> | undefined => (callMs > 0 ? after(callMs) : undefined);
  let created = 0;
  const client = {
    async createVolume({ name }: { name: string }) {
      created += 1;
      if (hangsOn(created)) await new Promise(() => {});
      await taken();
      return { volume: { volumeId: name, capacityBytes: 0n, volumeContext: {}, accessibleTopology: [] } };
    },
    async controllerPublishVolume({ volumeId }: { volumeId: string }) {
      await taken();
      return { publishContext: { device: volumeId } };
    },
  };
  return { connect: () => client, fingerprint: async () => seenWell, close: () => {} };
}
