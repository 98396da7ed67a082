/** The steps that are set, and which of them a call gets. What a step is: step.ts */
import { isDeepStrictEqual } from 'node:util';
import type { RpcName } from '../../csi/answers.js';
import { type CheckedStep, type CheckedUse, isFields } from './step.js';

interface Entry {
  step: CheckedStep;
  where: object;
}

interface Counted extends Entry {
  left: number;
}

/** Steps for a number of calls go first, in the order in which they were set; then the newest that is for always. */
export class Script {
  readonly #counted = new Map<RpcName, Counted[]>();
  readonly #standing = new Map<RpcName, Entry[]>();

  add(rpc: RpcName, step: CheckedStep, { times, where }: CheckedUse): void {
    if (times === 'always') put(this.#standing, rpc, [{ step, where }, ...(this.#standing.get(rpc) ?? [])]);
    else put(this.#counted, rpc, [...(this.#counted.get(rpc) ?? []), { step, where, left: times }]);
  }

  /** Uses up the step that this call gets; undefined: the driver does as it always does. */
  take(rpc: RpcName, request: object): CheckedStep | undefined {
    const counted = this.#counted.get(rpc)?.find(({ where }) => matches(request, where));
    if (!counted) return this.#standing.get(rpc)?.find(({ where }) => matches(request, where))?.step;
    counted.left -= 1;
    if (counted.left === 0) put(this.#counted, rpc, this.#counted.get(rpc)?.filter((entry) => entry !== counted) ?? []);
    return counted.step;
  }

  /** How many calls there still is a step for, those for always not counted. */
  get left(): number {
    return [...this.#counted.values()].flat().reduce((sum, { left }) => sum + left, 0);
  }

  /** @param rpc of one RPC only */
  clear(rpc?: RpcName): void {
    for (const steps of [this.#counted, this.#standing]) {
      if (rpc) steps.delete(rpc);
      else steps.clear();
    }
  }
}

const put = <Item>(lists: Map<RpcName, Item[]>, rpc: RpcName, list: Item[]): void => void lists.set(rpc, list);

const matches = (request: object, where: object): boolean =>
  Object.entries(where).every(([field, wanted]) => {
    const value: unknown = Reflect.get(request, field);
    return isFields(wanted) && isFields(value) ? matches(value, wanted) : isDeepStrictEqual(value, wanted);
  });
