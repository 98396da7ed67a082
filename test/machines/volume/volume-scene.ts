/** Scene for tests of the volume machine: the machine runs under plain XState, and the test chooses how its calls end. */
import { type ActorRefFrom, createActor, fromPromise, SimulatedClock } from 'xstate';
import type { AdmissionCall, AdmissionOutcome, CallOutcome } from '../../../machines/kit/csi-types.js';
import type { AttachCall, CreateCall, MadeCall, PublishCall } from '../../../machines/volume/calls.js';
import { volumePathOf } from '../../../machines/volume/states.js';
import type { VolumeChanged, VolumeSpec } from '../../../machines/volume/types.js';
import { volumeMachine } from '../../../machines/volume/volume.js';
import type { CreatedVolume, PublishAnswer } from '../../../machines/volume/wishes.js';
import { stamped } from '../stamped.js';

export const capability = { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' } as const;
export const spec: VolumeSpec = {
  plugin: 'disk',
  capacity: {},
  capabilities: [capability],
  parameters: {},
  mutableParameters: {},
  secrets: {},
  topology: { requisite: [], preferred: [] },
};
export const wish = { capability, readOnly: false, csiNodeId: 'csi-a' };
export const create = { type: 'volume.create', spec, uid: 'u1', name: 'sc-u1' } as const;
export const made: CallOutcome<CreatedVolume> = {
  status: 'done',
  answer: { id: 'vol-1', context: {}, accessibleTopology: [] },
};
export const unknown = { status: 'failed', failure: { code: 'CSI_ERROR', message: 'lost', final: false } } as const;

/** The plugin can't be called: no call was made. */
export const mustWait = { status: 'must-wait', reason: 'no plugin', for: 'plugin' } as const;

interface Interruption {
  code: 'INTERRUPTED';
  message: string;
}

/** The runtime ended while the call was under way. */
export const interrupted: Interruption = { code: 'INTERRUPTED', message: 'it may have been done' };

export class Scene {
  readonly calls: string[] = [];
  readonly told: VolumeChanged[] = [];
  readonly clock = new SimulatedClock();
  /** Outcomes of the calls, in order. Calls beyond the list stay in flight. */
  readonly outcomes: (CallOutcome<unknown> | Interruption)[] = [];
  /** Calls that wait until they are admitted, in order, by the effect that makes them. */
  readonly waiting: string[] = [];
  readonly #admit: (() => void)[] = [];
  readonly actor: ActorRefFrom<typeof volumeMachine>;

  constructor() {
    const call = <TAnswer, TInput extends object>(name: string) =>
      fromPromise<CallOutcome<TAnswer>, TInput>(() => {
        this.calls.push(name);
        const outcome = this.outcomes.shift();
        if (outcome && 'code' in outcome) return Promise.reject(outcome);
        // The test gives each call an answer of its own type.
        return outcome ? Promise.resolve(outcome as CallOutcome<TAnswer>) : new Promise(() => {});
      });
    const machine = volumeMachine.provide({
      actors: {
        createVolume: call<CreatedVolume, CreateCall>('create'),
        deleteVolume: call<null, MadeCall>('delete'),
        controllerPublish: call<PublishAnswer, PublishCall>('publish'),
        controllerUnpublish: call<null, AttachCall>('unpublish'),
        awaitAdmission: fromPromise<AdmissionOutcome, AdmissionCall>(({ input }) => {
          this.waiting.push(input.src);
          return new Promise((resolve) => this.#admit.push(() => resolve({ status: 'admitted' })));
        }),
      },
    });
    const logic = stamped(machine, () => ({ at: this.clock.now(), random: 0.5 }));
    this.actor = createActor(logic, { input: { namespace: 'default', id: 'data', seq: 7 }, clock: this.clock });
    this.actor.on('*', (event) => this.told.push(event));
    this.actor.start();
  }

  get context() {
    return this.actor.getSnapshot().context;
  }

  /** State of the volume for users, and how far its call is: `pending-publish.calling`. */
  get state(): string {
    const { value, context } = this.actor.getSnapshot();
    return volumePathOf(value, context);
  }

  /** The call that waits last may be made now. */
  admit(): void {
    this.#admit.pop()?.();
  }

  async rest(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
