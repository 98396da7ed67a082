/** A driver that ends during a run: whether it comes back, and what is said of the checks that it can't answer. Needs root. */
import { join } from 'node:path';
import { expect } from 'chai';
import { type Serving, serveDriver } from '../../src/tools/driver/serve.js';
import { notPassed, optionsFor, resultsOf, type Scene, withDriver } from './bench.js';
import { rightDriver } from './right-driver.js';
import { replaced } from './wrong.js';

const never = <T>(): Promise<T> => new Promise(() => {});

/** As long as a supervisor takes, and a channel's backoff lasts longer. */
const restartMs = 300;

interface Mortal {
  endpoint: string;
  /** Ends the driver that is there now, after it has come back if it does. */
  stop(): Promise<void>;
}

/** A driver that ends at a DeleteVolume of a volume that is not there. */
async function mortalDriver({ folder, state }: Scene, comesBack: boolean): Promise<Mortal> {
  const endpoint = `unix://${join(folder, 'mortal.sock')}`;
  const restart = async (): Promise<Serving | undefined> => {
    await serving.stop();
    if (!comesBack) return undefined;
    await new Promise((resolve) => setTimeout(resolve, restartMs));
    return serveDriver(endpoint, rightDriver(state), 0);
  };
  let restarting: Promise<Serving | undefined> | undefined;
  const handlers = replaced(rightDriver(state), 'DeleteVolume', (request, next) => {
    if (!request.volumeId.endsWith('-unknown')) return next(request);
    restarting = restart();
    return never();
  });
  const serving = await serveDriver(endpoint, handlers, 0);
  return { endpoint, stop: async () => (await restarting)?.stop() };
}

const right = <T>(handlers: T): T => handlers;

describe('a driver that ends during a run of driver-check', () => {
  it('is waited for: the check that ended it fails, and all others are made', async () => {
    await withDriver(right, async (scene) => {
      const { endpoint, stop } = await mortalDriver(scene, true);
      const results = await resultsOf({ ...optionsFor(scene), endpoint, only: 'DeleteVolume/' });
      await stop();
      expect(notPassed(results)).to.deep.equal({ 'DeleteVolume/absent': 'failed' });
      expect(results[0]?.why, '34.37').to.match(/^the driver ended during this call: expected OK, but came/);
      expect(results.length).to.be.greaterThan(5);
    });
  });

  it('and is not back in time, blocks the checks after that, for one reason', async () => {
    await withDriver(right, async (scene) => {
      const { endpoint, stop } = await mortalDriver(scene, false);
      const options = { ...optionsFor(scene), endpoint, only: 'DeleteVolume/', restartWaitMs: restartMs };
      const [first, ...others] = (await resultsOf(options)).slice(0, -1);
      await stop();
      expect(first).to.include({ id: 'DeleteVolume/absent', outcome: 'failed' });
      expect(first?.why, '34.37').to.match(/^the driver ended during this call/);
      const reasons = new Set(others.map(({ outcome, why }) => `${outcome}: ${why}`));
      expect([...reasons].join()).to.equal('blocked: the driver is gone since DeleteVolume/absent');
    });
  });
});
