/** Creates and deletes volumes. Docstrings for callers: volume-manager.ts */

import { z } from 'zod';
import type { CallFailure } from '../../machines/kit/csi-types.js';
import { isDeleted } from '../../machines/volume/lifecycle.js';
import { volumeName } from '../../machines/volume/requests.js';
import { volumeStateOf } from '../../machines/volume/states.js';
import type { VolumeSpec as KnownSpec, VolumeContext } from '../../machines/volume/types.js';
import type { volumeMachine } from '../../machines/volume/volume.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { failureOf } from '../../machines/volume/work.js';
import type { Homes, NewHome } from '../calls/homes.js';
import type { ActorSystem } from '../engine/actor-system.js';
import type { Random } from '../engine/random.js';
import { StagecraftError } from '../errors.js';
import { nodeIdSchema } from '../host/names.js';
import {
  checkedOptions,
  type DeleteOptions,
  deleteSchema,
  type WaitOptions,
  waitShape,
} from '../requests/await-options.js';
import { checked, type VolumeKeyInput } from '../requests/fields.js';
import { checkSecretRefs, refuseWithoutSecrets, type SecretsProvider } from '../secrets/secrets.js';
import { snapshotSource } from '../snapshots/snapshot-sources.js';
import type { CopySources } from './copy-sources.js';
import { type IdOwners, sourceKind } from './id-owners.js';
import { type CheckedSpec, knownSpec, specSchema, type VolumeSpec } from './spec.js';
import {
  addressOf,
  failedCreation,
  failedError,
  type KnownPlugins,
  type KnownSource,
  refuseUnknown,
  volumeSourceOf,
} from './volume-checks.js';
import type { VolumeClient, VolumeView } from './volume-client.js';
import { type Volume, volumeOf } from './volume-view.js';

export interface VolumeCreationPorts extends KnownPlugins {
  engine: ActorSystem;
  random: Random;
  /** Prefix of the names of volumes at their plugins. */
  namePrefix: string;
  secrets: SecretsProvider;
  /** Homes of volumes; default: every agent may make the calls of every volume. */
  homes?: Homes;
  /** Driver name that the registered plugin reports (GetPluginInfo); undefined if not known. */
  driverOf?(plugin: string): string | undefined;
  ids: Pick<IdOwners<typeof volumeMachine>, 'takingOver'>;
  sources: Pick<CopySources, 'leaving' | 'removalRefusal'>;
}

export interface CreateOptions extends WaitOptions {
  /** Node where the volume is made, if its plugin has separate volumes on each host. Default: the node of the agent that is asked. */
  home?: string | undefined;
}

interface Creating {
  wait: boolean;
  place: NewHome;
  limit: AbortSignal | undefined;
}

export class VolumeCreation {
  readonly #client: VolumeClient;
  readonly #ports: VolumeCreationPorts;

  constructor(client: VolumeClient, ports: VolumeCreationPorts) {
    this.#client = client;
    this.#ports = ports;
  }

  async create(spec: VolumeSpec, options: CreateOptions): Promise<Volume> {
    this.#client.refuseIfClosed();
    const asked = checked(specSchema, spec, 'the spec of the volume');
    const { wait, home, askedOn, ...waiting } = checkedOptions(createSchema, options);
    const place = { named: home, askedOn };
    return this.#client.inTime(waiting, (limit) => this.#create(asked, { wait, place, limit }));
  }

  async #create(asked: CheckedSpec, { wait, place, limit }: Creating): Promise<Volume> {
    const key = { namespace: asked.namespace, id: asked.id };
    const address = addressOf(key);
    const { random, namePrefix, secrets, homes, ids, driverOf } = this.#ports;
    const present = await this.#client.view(key, limit);
    // A volume that exists has passed this check before.
    if (!present && !this.#ports.isKnownPlugin(asked.plugin)) await refuseUnknown(asked.plugin, this.#ports);
    // Checked before the request is sent: the journal keeps refused requests, too.
    checkSecretRefs(secrets, asked.secrets, present?.context.spec?.secrets);
    const { clock } = this.#client;
    const isChecked = wait || present?.context.csi || homes?.isFar({ plugin: asked.plugin });
    if (!isChecked) await refuseWithoutSecrets(secrets, asked.secrets, { clock, signal: limit });
    const uid = random.id();
    const source: Partial<KnownSource> =
      (await volumeSourceOf(asked, present?.context, {
        volume: async (source) => (await this.#client.present(source, limit)).context,
        snapshot: (source) => snapshotSource(this.#ports, source, limit),
        homeHere: async (what, call) => homes?.here(what, call),
      })) ?? {};
    const known = knownSpec(asked, source.csiId ?? '');
    if (!present) await this.#refuseIfLeaving(key, { ...known, home: source.home }, limit);
    const home =
      source.home ??
      (present
        ? undefined
        : await this.#homeOfNew(asked.plugin, { ...place, isExternal: asked.external !== undefined }));
    const driver = source.driver ?? driverOf?.(asked.plugin);
    const name = `${namePrefix}-${uid}`;
    const { sizeBytes: sourceBytes } = source;
    const { askedOn = homes?.own } = place;
    const origin = {
      ...(home !== undefined && { home }),
      ...(driver !== undefined && { driver }),
      ...(askedOn !== undefined && { askedOn }),
      ...(sourceBytes !== undefined && { sourceBytes }),
    };
    const ask = (): Promise<void> =>
      this.#client.ask(key, { type: 'volume.create', spec: known, uid, name, ...origin }, limit);
    // A volume that exists owns its id already.
    const taken = present ? undefined : asked.external;
    await (taken ? ids.takingOver(address, { plugin: asked.plugin, csiId: taken.csiId, home }, ask, limit) : ask());
    const reached = ({ state, context }: VolumeView): Volume | undefined => {
      if (isDeleted(context.lifecycle))
        throw new StagecraftError('ABORTED', `${volumeName(key)} is being deleted`, { address });
      if (context.csi) return volumeOf(state, context);
      const failure = failedCreation(key, context.lifecycle);
      if (failure) throw failure;
      return undefined;
    };
    return this.#client.until({ key, goal: 'created', reached, signal: limit });
  }

  /** An agent that has just got the plugin may not be known yet. */
  async #homeOfNew(plugin: string, place: NewHome): Promise<string | undefined> {
    const { homes, refresh } = this.#ports;
    if (!homes) return undefined;
    if (homes.isUnknown(plugin, place)) await refresh?.();
    const home = homes.ofNew(plugin, place);
    if (place.named !== undefined) await homes.refuseUnknown(plugin, place.named);
    return home;
  }

  async delete(key: VolumeKeyInput, options: DeleteOptions): Promise<void> {
    const known = this.#client.accept(key);
    const { force, uid, ...waiting } = checkedOptions(deleteSchema, options);
    await this.#client.inTime(waiting, (limit) => this.#delete(known, { force, uid }, limit));
  }

  async #delete(
    known: VolumeKey,
    { force, uid }: { force: boolean; uid: string | undefined },
    limit: AbortSignal | undefined,
  ): Promise<void> {
    const meant = await this.#askToDelete(known, { force, uid }, limit);
    if (meant === undefined) return;
    const reached = ({ state, context: now }: VolumeView): true | undefined => {
      if (now.uid !== meant || volumeStateOf(state, now) === 'deleted') return true;
      const failure = volumeStateOf(state, now) === 'failed' ? failureOf(now) : undefined;
      if (failure) throw failedError(known, failure);
      return undefined;
    };
    await this.#client.until({ key: known, goal: 'deleted', reached, gone: true, signal: limit });
  }

  /** @throws StagecraftError VOLUME_DELETING, SNAPSHOT_DELETING: the source is being deleted */
  async #refuseIfLeaving(
    key: VolumeKey,
    { source, plugin, home }: KnownSpec & { home: string | undefined },
    signal: AbortSignal | undefined,
  ): Promise<void> {
    if (!source) return;
    const of = sourceKind(source);
    const failure = await this.#ports.sources.leaving([{ of, plugin, csiId: source.csiId, home }], {
      address: addressOf(key),
      signal,
    });
    if (failure) throw refusedAs(key, failure);
  }

  /** @throws StagecraftError VOLUME_IN_USE: another volume, or a snapshot, is being made from it */
  async #refuseIfCopied(
    key: VolumeKey,
    { spec, csi, origin, home }: VolumeContext,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    // A volume that is only forgotten keeps its content.
    if (!csi || !spec || origin !== 'call') return;
    const { plugin } = spec;
    const failure = await this.#ports.sources.removalRefusal([{ of: 'volume', plugin, csiId: csi.id, home }], {
      address: addressOf(key),
      signal,
    });
    if (failure) throw refusedAs(key, failure);
  }

  /** @returns uid of the volume that is being deleted; undefined: the one with the given uid is gone */
  async #askToDelete(
    known: VolumeKey,
    { force, uid }: { force: boolean; uid: string | undefined },
    limit: AbortSignal | undefined,
  ): Promise<string | undefined> {
    try {
      const { context } = await this.#client.present(known, limit);
      if (uid !== undefined && context.uid !== uid) return undefined;
      if (!force) await this.#refuseIfCopied(known, context, limit);
      await this.#client.ask(known, { type: 'volume.delete', force, ...(uid !== undefined && { uid }) }, limit);
      return context.uid;
    } catch (error) {
      const isGone = error instanceof StagecraftError && error.code === 'VOLUME_NOT_FOUND';
      if (uid !== undefined && isGone) return undefined;
      throw error;
    }
  }
}

const refusedAs = (key: VolumeKey, { code, message }: CallFailure): StagecraftError =>
  new StagecraftError(code, `${volumeName(key)}: ${message}`, { address: addressOf(key) });

const createSchema = z.strictObject({
  ...waitShape,
  home: nodeIdSchema.optional(),
  askedOn: nodeIdSchema.optional(),
});
