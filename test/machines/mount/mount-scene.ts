/** What the tests of the mount machine share: it runs under plain XState, and its calls end as the test says. */
import { type ActorRefFrom, createActor, fromPromise, SimulatedClock } from 'xstate';
import type { AdmissionCall, AdmissionOutcome, CallFailure, CallOutcome } from '../../../machines/kit/csi-types.js';
import type {
  MountCall,
  NodeExpandAnswer,
  NodeExpandCall,
  NodePublishAnswer,
  NodePublishCall,
  NodeUnpublishAnswer,
  StageAnswer,
  StageCall,
  TargetCall,
} from '../../../machines/mount/calls.js';
import { mountMachine } from '../../../machines/mount/mount.js';
import { mountStateOf } from '../../../machines/mount/states.js';
import { mountUserStateOf } from '../../../machines/mount/target.js';
import type { MountChanged, MountedVolume } from '../../../machines/mount/types.js';
import { stamped } from '../stamped.js';

export const many = { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' } as const;
export const single = { accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;
export const volume: MountedVolume = {
  uid: 'u1',
  plugin: 'disk',
  csiId: 'vol-1',
  volumeContext: {},
  publishContext: {},
  secrets: {},
};
export const use = (allocId: string, more: object = {}) =>
  ({ type: 'mount.use', volume, capability: many, allocId, readOnly: false, ...more }) as const;
export const leave = (allocId: string) => ({ type: 'mount.leave', allocId }) as const;

export const found = { device: '8:1', root: '/data' };
export const staged: CallOutcome<StageAnswer> = { status: 'done', answer: { isStaged: true, found, bootId: 'b1' } };
export const published: CallOutcome<NodePublishAnswer> = { status: 'done', answer: { found, bootId: 'b1' } };
export const unpublished: CallOutcome<NodeUnpublishAnswer> = { status: 'done', answer: {} };
export const unstaged: CallOutcome<NodeUnpublishAnswer> = { status: 'done', answer: {} };
export const failed = (failure: Partial<CallFailure>): CallOutcome<never> => ({
  status: 'failed',
  failure: { code: 'CSI_ERROR', message: 'lost', final: false, ...failure },
});

export class Scene {
  readonly calls: string[] = [];
  readonly told: MountChanged[] = [];
  readonly clock = new SimulatedClock();
  readonly #open: ((outcome: CallOutcome<never>) => void)[] = [];
  readonly actor: ActorRefFrom<typeof mountMachine>;

  constructor() {
    const call = <TAnswer, TInput extends object>(name: string) =>
      fromPromise<CallOutcome<TAnswer>, TInput>(({ input }) => {
        const { allocId } = input as { allocId?: string };
        this.calls.push(allocId === undefined ? name : `${name} ${allocId}`);
        return new Promise((resolve) => this.#open.push(resolve));
      });
    const machine = mountMachine.provide({
      actors: {
        nodeStage: call<StageAnswer, StageCall>('stage'),
        nodePublish: call<NodePublishAnswer, NodePublishCall>('publish'),
        nodeUnpublish: call<NodeUnpublishAnswer, TargetCall>('unpublish'),
        nodeExpand: call<NodeExpandAnswer, NodeExpandCall>('expand'),
        nodeUnstage: call<NodeUnpublishAnswer, MountCall>('unstage'),
        awaitAdmission: fromPromise<AdmissionOutcome, AdmissionCall>(() => new Promise(() => {})),
      },
    });
    const logic = stamped(machine, () => ({ at: this.clock.now(), random: 0.5 }));
    this.actor = createActor(logic, { input: { node: 'n1', namespace: 'default', id: 'data' }, clock: this.clock });
    this.actor.on('*', (event) => this.told.push(event));
    this.actor.start();
  }

  get context() {
    return this.actor.getSnapshot().context;
  }

  get state(): string {
    const { value, context } = this.actor.getSnapshot();
    return mountStateOf(value, context);
  }

  /** The call that is in flight is answered. */
  async answer(outcome: CallOutcome<unknown>): Promise<void> {
    const resolve = this.#open.shift();
    if (!resolve) throw new Error('no call is in flight');
    // The test gives each call an answer of its own type.
    resolve(outcome as CallOutcome<never>);
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  }

  /** Mounted for one alloc. */
  static async mounted(allocId = 'a', more: object = {}): Promise<Scene> {
    const scene = new Scene();
    scene.actor.send(use(allocId, more));
    await scene.answer(staged);
    await scene.answer(published);
    return scene;
  }

  states(): string[] {
    return this.context.users.map((user) => `${user.allocId} ${mountUserStateOf(user)}`);
  }
}
