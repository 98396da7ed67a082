/** Those who make and delete snapshots in a history, and remember what they were told. */
import { groupSnapshotAddress, snapshotAddress } from '../../machines/kit/addresses.js';
import { isBeingDeleted, snapshotStateOf } from '../../machines/snapshot/states.js';
import type { SeenSnapshot } from './snapshots-judgement.js';
import type { SnapshotStep, SnapshotVariant } from './snapshots-plan.js';
import type { Ledger } from './volumes-ledger.js';
import type { VolumesLife } from './volumes-life.js';

interface SnapshotUsersOptions {
  ledger: Ledger;
  /** Volumes whose calls need secrets. */
  secret: string[];
  /** The runtime that can be asked now. */
  life(): VolumesLife | undefined;
  ask(step: object, work: () => Promise<unknown>): Promise<void>;
  /** The same, where it undoes what these names stand for. */
  undo(step: object, names: string[], work: () => Promise<unknown>): void;
}

interface Place {
  sort: SnapshotVariant;
  id: string;
}

const addressOf = ({ sort, id }: Place): string =>
  sort === 'one' ? snapshotAddress('default', id) : groupSnapshotAddress('default', id);

export class SnapshotUsers {
  readonly #options: SnapshotUsersOptions;
  /** By address, as committed last. */
  readonly #seen = new Map<string, SeenSnapshot>();

  constructor(options: SnapshotUsersOptions) {
    this.#options = options;
  }

  saw(snapshot: SeenSnapshot): void {
    this.#seen.set(snapshot.address, snapshot);
  }

  do(step: SnapshotStep): void {
    const life = this.#options.life();
    if (!life) return;
    const { ask } = this.#options;
    const { id } = step;
    const manager = step.sort === 'one' ? life.snapshots : life.groupSnapshots;
    if (step.do === 'snapshot') this.#create(life, step);
    else if (step.do === 'snapshot-delete') this.#delete(life, step);
    else if (step.do === 'snapshot-retry') void ask(step, () => manager.retry({ id }));
    else void ask(step, () => manager.acknowledge({ id }));
  }

  /** Answers whether there was something to try again. */
  retryFailed(): boolean {
    const failed = this.#present().filter(({ context }) => snapshotStateOf(context) === 'failed');
    for (const one of failed) this.do({ do: 'snapshot-retry', ...placeOf(one) });
    return failed.length > 0;
  }

  /** @param settled resolves when all that is set off is done */
  async deleteAll(settled: () => Promise<void>): Promise<void> {
    for (const force of [false, true]) {
      // One whose volume is gone can't be asked for again: where it may have been made, only force gives it up.
      for (const one of this.#present()) this.do({ do: 'snapshot-delete', ...placeOf(one), force });
      await settled();
    }
  }

  #present(): SeenSnapshot[] {
    return [...this.#seen.values()].filter(({ context }) => snapshotStateOf(context) !== 'deleted');
  }

  #create(life: VolumesLife, step: Extract<SnapshotStep, { do: 'snapshot' }>): void {
    const { sort, id, volumes } = step;
    const address = addressOf(step);
    const grant = this.#options.ledger.ask(`make ${address}`, '', [address]);
    void this.#options.ask(step, async () => {
      const keys = volumes.map((volume) => ({ id: volume }));
      const [volume = { id: '' }] = keys;
      const token = volumes.find((one) => this.#options.secret.includes(one));
      const secrets = token === undefined ? {} : { token: `file:${token}` };
      const { uid, csiId } =
        sort === 'one'
          ? await life.snapshots.create({ id, volume, secrets }, patienceOf(step))
          : await life.groupSnapshots.create({ id, volumes: keys, secrets }, patienceOf(step));
      grant(() => {
        const { context } = this.#seen.get(address) ?? {};
        if (context?.uid !== uid || context.csi?.csiId !== csiId) return false;
        return snapshotStateOf(context) === 'ready';
      });
    });
  }

  #delete(life: VolumesLife, step: Extract<SnapshotStep, { do: 'snapshot-delete' }>): void {
    const { sort, id, force } = step;
    const address = addressOf(step);
    const uid = this.#seen.get(address)?.context.uid;
    const manager = sort === 'one' ? life.snapshots : life.groupSnapshots;
    this.#options.undo(step, [address], async () => {
      await manager.delete({ id }, { force, ...patienceOf(step) });
      this.#options.ledger.ask(
        `delete ${address} (${uid})`,
        '',
        [],
      )(() => {
        const { context } = this.#seen.get(address) ?? {};
        return !context || context.uid !== uid || isBeingDeleted(context);
      });
    });
  }
}

const placeOf = ({ context: { kind, key } }: SeenSnapshot): Place => ({
  sort: kind === 'volume-snapshot' ? 'one' : 'group',
  id: key.id,
});

const patienceOf = ({ timeoutMs }: { timeoutMs?: number }): { timeoutMs?: number } =>
  timeoutMs === undefined ? {} : { timeoutMs };
