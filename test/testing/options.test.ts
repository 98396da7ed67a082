/** What the fault driver takes as options, and how it refuses the rest. */
import { expect } from 'chai';
import { faultDriver, serveFaulty } from '../../src/testing/index.js';

const whole = { socketPath: '/run/x.sock', nodeId: 'n', dataDir: '/tmp/x' };

/** Also what the compiler would refuse. */
const faultOf = (make: (options: never) => Promise<unknown>, options: unknown): Promise<string> =>
  Promise.resolve(Reflect.apply(make, undefined, [options])).then(
    () => 'taken',
    (error: unknown) => (error instanceof TypeError ? error.message : `no TypeError: ${error}`),
  );

describe('fault driver: options', () => {
  for (const [what, options, fault] of [
    ['nothing', undefined, 'the options: '],
    ['no node id', { ...whole, nodeId: undefined }, 'nodeId: '],
    ['a data directory that is relative', { ...whole, dataDir: 'rel' }, 'dataDir: must be an absolute path'],
    ['a mistyped name', { ...whole, mount: 'memory' }, '"mount"'],
    ['a mistyped value', { ...whole, mounts: 'mem' }, 'mounts: '],
    ['a size as text', { ...whole, capacityBytes: '5Gi' }, 'capacityBytes: '],
  ] as const) {
    it(`${what} is refused, and named`, async () => {
      expect(await faultOf(faultDriver, options)).to.contain(fault);
      expect(await faultOf(serveFaulty, options)).to.contain(fault);
    });
  }

  it('a handler of no RPC is refused, and named', async () => {
    const handlers = { GetPluginInf: () => ({}) };
    expect(await faultOf(serveFaulty, { ...whole, handlers })).to.contain('CSI has no RPC "GetPluginInf"');
  });
});
