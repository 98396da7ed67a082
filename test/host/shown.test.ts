/** Data of actors that may be shown: without values of environments and without contexts of drivers, and otherwise as they were. */
import { expect } from 'chai';
import { shown } from '../../src/host/shown.js';

const secret = { chap: 'planted' };
const masked = { chap: '***' };

describe('what may be shown', () => {
  it('34.11 contexts of volumes and publications keep their names alone, wherever they stand', () => {
    const record = {
      state: 'published',
      context: {
        csi: { id: 'v-1', context: secret, accessibleTopology: [] },
        spec: { external: { csiId: 'v-1', context: secret } },
        publications: { n1: { publishContext: secret } },
      },
      effects: [{ input: { volumeContext: secret, publishContext: secret } }],
      event: { output: { answer: { publishContext: secret } } },
    };
    expect(shown(record)).to.deep.equal({
      state: 'published',
      context: {
        csi: { id: 'v-1', context: masked, accessibleTopology: [] },
        spec: { external: { csiId: 'v-1', context: masked } },
        publications: { n1: { publishContext: masked } },
      },
      effects: [{ input: { volumeContext: masked, publishContext: masked } }],
      event: { output: { answer: { publishContext: masked } } },
    });
    expect(record.context.csi.context).to.equal(secret);
  });

  it('34.11 of an environment the names stay, in records of any version', () => {
    const env = { TOKEN: 'planted', LEVEL: { stored: 'planted' }, KEY: { given: true } };
    expect(shown({ spec: { env } })).to.deep.equal({ spec: { env: { TOKEN: '***', LEVEL: '***', KEY: '***' } } });
  });

  it('34.11 the context of a machine, and data without secrets, are the same objects', () => {
    const record = { address: 'node/a', context: { id: 'a', plugins: [{ name: 'disk' }] }, list: [1, null, 'a'] };
    expect(shown(record)).to.equal(record);
  });
});
