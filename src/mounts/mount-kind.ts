/**
 * Binds the mount machine to its calls, and says which gate stands before each. What has to hold before a call, and after
 * it: mount-calls.ts. How a call is made: calls/plugin-calls.ts
 */
import { addressParts, nodeOf } from '../../machines/kit/addresses.js';
import type { AdmissionCall, AdmissionOutcome, CallOutcome, Wait } from '../../machines/kit/csi-types.js';
import { isSameData } from '../../machines/kit/same-data.js';
import type { MountCall } from '../../machines/mount/calls.js';
import { mountMachine } from '../../machines/mount/mount.js';
import { mountRefusalOf } from '../../machines/mount/requests.js';
import { mountParts, mountPathOf } from '../../machines/mount/states.js';
import type { MountContext, MountInput } from '../../machines/mount/types.js';
import { givenUpAfterMs } from '../calls/call-bounds.js';
import type { PluginCalls, PluginWork } from '../calls/plugin-calls.js';
import { nodeCallsOf } from '../calls/volume-locks.js';
import type { ActorKind, Effect, EffectCall } from '../engine/effects/effects.js';
import type { FormerMounts } from './former-mounts.js';
import { mountMigrations } from './migrations.js';
import { MountCalls, type MountCallsOptions } from './mount-calls.js';

interface MountKindOptions extends MountCallsOptions {
  calls: PluginCalls;
  processes: NodeProcesses;
  /** For one call, in milliseconds. */
  timeoutMs: number;
  /** Resolves once the mounts in the records have been compared with the kernel; undefined if they have. */
  compared(): Promise<void> | undefined;
  /** Mounts of an agent at another place: nothing is called for them. */
  former: Pick<FormerMounts, 'why' | 'over'>;
}

/** Processes of this runtime that serve node calls of plugins. */
export interface NodeProcesses {
  /** Process that serves the node calls of a plugin now, as far as known. Never throws. */
  of(plugin: string): object;
  /** See Recipients. */
  hasEnded(process: object): Promise<boolean | undefined>;
}

export const mountsTopic = (node: string): string => `mounts/${encodeURIComponent(node)}`;

export function mountKind(options: MountKindOptions): ActorKind {
  const { calls, processes, timeoutMs } = options;
  const nodeCalls = new MountCalls(options);
  const admission = calls.admission<MountCall>(volumesOf);
  const effect = <TInput extends MountCall, TAnswer>(
    work: (input: TInput, run: EffectCall<TInput>) => PluginWork<TAnswer>,
    compensates?: string[],
  ): Effect => ({
    sentDeadlineMs: givenUpAfterMs(timeoutMs),
    atMostOnce: true,
    ...(compensates && { compensates }),
    recipient: {
      of: ({ plugin }: MountCall) => processes.of(plugin),
      hasEnded: (process) => processes.hasEnded(process),
    },
    run: (run: EffectCall<TInput>) => {
      // The mounts in the record may have gone: then another call is due.
      if (options.compared()) return Promise.resolve(notCompared);
      const elsewhere = options.former.why(run.input.key);
      if (elsewhere !== undefined) return Promise.resolve(unknownHere(elsewhere));
      const { recipient } = run;
      return calls.run(run, {
        ...work(run.input, run),
        volumes: volumesOf(run.src, run.input),
        hasOtherRecipient: () => recipient !== undefined && !isSameData(recipient, processes.of(run.input.plugin)),
      });
    },
  });

  return {
    machine: mountMachine,
    parts: (context: MountContext) => mountParts(context),
    pathOf: mountPathOf,
    begin: (address): MountInput => {
      const [, , namespace = '', id = ''] = addressParts(address);
      return { node: nodeOf(address), namespace, id };
    },
    topic: (address) => mountsTopic(nodeOf(address)),
    refusalOf: mountRefusalOf,
    migrations: mountMigrations,
    effects: {
      // An unstage of an earlier runtime may take effect late: the volume would be unstaged under its targets.
      nodeStage: effect(nodeCalls.stage.bind(nodeCalls), ['nodeUnstage']),
      nodePublish: effect(nodeCalls.publish.bind(nodeCalls)),
      nodeUnpublish: effect(nodeCalls.unpublish.bind(nodeCalls), ['nodePublish']),
      nodeUnstage: effect(nodeCalls.unstage.bind(nodeCalls), ['nodeStage', 'nodePublish']),
      nodeExpand: effect(nodeCalls.expand.bind(nodeCalls)),
      awaitAdmission: {
        ...admission,
        run: async (run: EffectCall<AdmissionCall<MountCall>>): Promise<unknown> => {
          const { wait, call } = run.input;
          if (wait.for !== 'compared') return admission.run(run);
          await options.compared();
          const reason = options.former.why(call.key);
          if (reason !== undefined && reason !== wait.reason)
            run.send({ type: 'wait.changed', reason, for: 'compared' } satisfies Wait & { type: string });
          await options.former.over(call.key, run.signal);
          return { status: 'admitted' } satisfies AdmissionOutcome;
        },
      },
    },
  };
}

const unknownHere = (reason: string): CallOutcome<never> => ({ status: 'must-wait', reason, for: 'compared' });

const notCompared = unknownHere('what is mounted here is compared with what was before');

/** Makes calls to the node service about one volume one at a time. */
const volumesOf = (_: string, { csiId }: MountCall): string[] => [nodeCallsOf(csiId)];
