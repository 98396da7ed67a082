/** Requests that people send actors by hand: each goes through the method of the runtime that programs use. */
import type { AnyEventObject } from 'xstate';
import { z } from 'zod';
import type { RequestByHand } from '../../machines/accepted-events.js';
import { addressParts } from '../../machines/kit/addresses.js';
import { nameSchema, nodeIdSchema, textSchema } from '../host/names.js';
import { capabilitySchema, checked, definedCapability, parametersSchema } from '../requests/fields.js';
import { expandSchema } from '../volumes/volume-changing.js';
import { availabilitySchema } from '../volumes/volume-manager.js';
import type { SendByHand } from './actor-records.js';
import type { Runtime } from './runtime-api.js';

/** Parts of the runtime that take the requests. */
type Requested = Pick<
  Runtime,
  'volumes' | 'snapshots' | 'groupSnapshots' | 'nodes' | 'mounts' | 'allocations' | 'tasks' | 'plugins'
>;

/** Longest wait for the end of the work, which goes on after it. */
const timeoutMs = 10_000;

type Send = (runtime: Requested, address: string, event: AnyEventObject) => Promise<unknown>;

/** Checks the fields of the event, beside its type, before the method gets them. */
const taking =
  <T>(fields: z.ZodType<T>, send: (runtime: Requested, parts: Parts, fields: T) => Promise<unknown>): Send =>
  (runtime, address, { type, ...given }) =>
    send(runtime, partsOf(address), checked(fields, given, `the fields of ${type}`));

interface Parts {
  /** Key of a volume, a snapshot or a mount. */
  key: { namespace: string; id: string };
  /** Name of a node, a task or an alloc. */
  name: string;
  all: readonly string[];
}

function partsOf(address: string): Parts {
  const all = addressParts(address);
  const [namespace = '', id = ''] = all.slice(-2);
  return { key: { namespace, id }, name: id, all };
}

const snapshotsOf = ({ snapshots, groupSnapshots }: Requested, { all: [machine] }: Parts) =>
  machine === 'group-snapshot' ? groupSnapshots : snapshots;

const nothing = z.strictObject({});
const forceFields = z.strictObject({ force: z.boolean().default(false) });
const deleteFields = forceFields.extend({ uid: z.string().optional() });
const retryFields = z.strictObject({ acceptDriver: textSchema.optional() });

const requests: Record<RequestByHand, Send> = {
  'volume.publish': taking(
    z.strictObject({
      nodeId: nodeIdSchema,
      capability: capabilitySchema.optional(),
      readOnly: z.boolean().default(false),
    }),
    ({ volumes }, { key }, { nodeId, capability, readOnly }) =>
      volumes.publish(key, nodeId, {
        ...{ readOnly, timeoutMs },
        ...(capability && { capability: definedCapability(capability) }),
      }),
  ),
  'volume.unpublish': taking(z.strictObject({ nodeId: nodeIdSchema }), ({ volumes }, { key }, { nodeId }) =>
    volumes.unpublish(key, nodeId, { timeoutMs }),
  ),
  'volume.release': taking(
    z.strictObject({
      allocId: nameSchema,
      nodeId: nodeIdSchema.optional(),
      generation: z.int().nonnegative().optional(),
    }),
    ({ volumes }, { key }, { allocId, ...only }) => volumes.release(key, allocId, only),
  ),
  'volume.set-availability': taking(
    z.strictObject({ availability: availabilitySchema }),
    ({ volumes }, { key }, { availability }) => volumes.setAvailability(key, availability),
  ),
  'volume.expand': taking(z.strictObject({ capacity: expandSchema }), ({ volumes }, { key }, { capacity }) =>
    volumes.expand(key, capacity, { timeoutMs }),
  ),
  'volume.modify': taking(
    z.strictObject({ mutableParameters: parametersSchema }),
    ({ volumes }, { key }, { mutableParameters }) => volumes.modify(key, mutableParameters, { timeoutMs }),
  ),
  'volume.delete': taking(deleteFields, ({ volumes }, { key }, fields) =>
    volumes.delete(key, { ...fields, timeoutMs }),
  ),
  'volume.retry': taking(retryFields, ({ volumes }, { key }, fields) => volumes.retry(key, fields)),
  'volume.acknowledge': taking(nothing, ({ volumes }, { key }) => volumes.acknowledge(key)),
  'snapshot.delete': taking(deleteFields, (runtime, parts, fields) =>
    snapshotsOf(runtime, parts).delete(parts.key, { ...fields, timeoutMs }),
  ),
  'snapshot.retry': taking(retryFields, (runtime, parts, fields) =>
    snapshotsOf(runtime, parts).retry(parts.key, fields),
  ),
  'snapshot.acknowledge': taking(nothing, (runtime, parts) => snapshotsOf(runtime, parts).acknowledge(parts.key)),
  'mount.retry': taking(retryFields, ({ mounts }, { key }, fields) => mounts.retry(key, fields)),
  'alloc.release': taking(nothing, ({ allocations, mounts }, { all: [, , allocId = '', ...single], key }) =>
    single.length > 0
      ? mounts.unmount({ volume: key, allocId }, { timeoutMs })
      : allocations.release(allocId, { timeoutMs }),
  ),
  'node.down': taking(nothing, ({ nodes }, { name }) => nodes.down(name)),
  'node.fence': taking(z.strictObject({ reason: z.string() }), ({ nodes }, { name }, { reason }) =>
    nodes.fence(name, reason),
  ),
  'node.remove': taking(nothing, ({ nodes }, { name }) => nodes.remove(name)),
  'task.restart': taking(nothing, ({ tasks }, { name }) => tasks.restart(name)),
  'task.stop': taking(forceFields, ({ tasks }, { name }, fields) => tasks.stop(name, fields)),
  'task.remove': taking(forceFields, ({ tasks }, { name }, fields) => tasks.remove(name, fields)),
  'plugins.deregister': taking(z.strictObject({ allocId: nameSchema }), ({ plugins }, parts, { allocId }) => {
    const [, , type = '', name = ''] = parts.all;
    return plugins.deregister(type, name, allocId);
  }),
};

/** Returns a function that sends an actor the request of the type, by the method of the runtime. */
export const requestsByHand =
  (runtime: Requested): SendByHand =>
  (type, address, event) =>
    requests[type](runtime, address, event);
