/** Wrong arguments of a program: every request refuses them with an error of ours, never with a JavaScript error. */
import { expect } from 'chai';
import { isErrorCode, StagecraftError } from '../../src/errors.js';
import { VolumeHouse } from '../volumes/volume-house.js';

const surface = [
  ...['plugins', 'tasks', 'volumes', 'snapshots', 'groupSnapshots', 'nodes', 'mounts', 'allocations'],
  ...['journal', 'actors', 'leadership', 'cluster'],
];
/** Not for callers: runtime.ts leaves them out. */
const inner = new Set([
  ...['constructor', 'close', 'checked', 'dependentsOf', 'seen', 'watch', 'lookAgain', 'stopAll', 'interrupt', 'look'],
  ...[
    'publishTo',
    'unstaged',
    'nodeExpanded',
    'refuse',
    'recover',
    'releaseAll',
    'target',
    'byCsiId',
    'reported',
    'hear',
  ],
  ...['hasHeard', 'gone', 'told', 'has', 'holdReleased', 'refuseUntakeable', 'leftStaged', 'at', 'stateOf'],
]);

function methodsOf(part: object): string[] {
  const names = new Set<string>();
  for (let one = part; one && one !== Object.prototype; one = Object.getPrototypeOf(one))
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(one)))
      if (typeof value === 'function' && !inner.has(name)) names.add(name);
  return [...names];
}

describe('a request that is given what it does not take', () => {
  const house = new VolumeHouse();

  before(async () => {
    await house.furnish();
  });

  after(() => house.dispose());

  const refusalOf = async (part: object, name: string, given: unknown[]): Promise<unknown> => {
    try {
      const answer: unknown = await Reflect.apply(Reflect.get(part, name), part, given);
      if (answer instanceof Object && Symbol.asyncIterator in answer)
        for await (const _ of Object(answer)) return undefined;
      return undefined;
    } catch (error) {
      return error;
    }
  };

  for (const name of surface) {
    it(`runtime.${name}: null, numbers and texts in the place of objects are refused`, async () => {
      const part: object = Reflect.get(house.runtime, name);
      const faults: string[] = [];
      for (const method of methodsOf(part)) {
        for (const given of [
          [null],
          [null, null],
          [null, null, null],
          [7, 7, 7],
          [{}, null],
          ['a', null],
          ['a', 'b', null],
        ]) {
          const error = await Promise.race([refusalOf(part, method, given), house.rest().then(() => house.rest())]);
          const isRefused = error instanceof StagecraftError && isErrorCode(error.code);
          if (error !== undefined && !isRefused) faults.push(`${method}(${JSON.stringify(given)}): ${String(error)}`);
        }
      }
      expect(faults).to.deep.equal([]);
    });
  }
});
