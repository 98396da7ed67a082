/** `stagecraft why`, in a process of its own: how a volume is, since when, and what to do. */
import { expect } from 'chai';
import { ApiHouse, type Said } from './api-house.js';

describe('stagecraft why', () => {
  let api: ApiHouse;

  beforeEach(async () => {
    api = await new ApiHouse().open();
  });
  afterEach(() => api.dispose());

  const why = (...args: string[]): Promise<Said> => api.cli('why', ...args);

  async function publishing(code: 'INTERNAL' | 'INVALID_ARGUMENT'): Promise<void> {
    api.house.plugin.script = ({ rpc }) => (rpc === 'ControllerPublishVolume' ? { code, text: 'no luck' } : undefined);
    await api.create('data');
    api.house.runtime.volumes.publish({ id: 'data' }, 'a').catch(() => {});
    await api.house.rest();
  }

  it('X2 a publish in doubt: what it waits for, the last failure, and that it goes on by itself', async () => {
    await publishing('INTERNAL');
    const { code, stdout } = await why('volume', 'data');
    expect(code).to.equal(0);
    expect(stdout).to.match(/^is +in doubt: on a: publish in doubt/m);
    expect(stdout).to.match(/^waits +publication a: publish in doubt: .*no luck/m);
    expect(stdout).to.match(/^since +\d{4}-\d\d-\d\d .*publication\/a /m);
    expect(stdout).to.match(/^last failure +ControllerPublishVolume: INTERNAL \(attempt 1, .*no luck/m);
    expect(stdout).to.match(/^advice +nothing: it goes on by itself$/m);
  });

  it('X2 a refused publish: what to do, with the command', async () => {
    await publishing('INVALID_ARGUMENT');
    const { stdout } = await why('volume/default/data');
    expect(stdout).to.match(/^advice +fix the cause named above, then retry: stagecraft volume retry data$/m);
    const { trouble } = JSON.parse((await why('volume', 'data', '--json')).stdout);
    expect(trouble[0]).to.include({ needs: 'a-person' });
  });

  it('X2 a volume that is well has nothing to do; one that never was ends with its error', async () => {
    await api.create('data');
    const { stdout } = await why('volume', 'data');
    expect(stdout).to.match(/^is +healthy: not published$/m);
    expect(stdout).to.match(/^advice +nothing to do$/m);
    const { code, stderr } = await why('volume', 'other');
    expect(code).not.to.equal(0);
    expect(stderr).to.contain('there is no actor volume/default/other');
  });
});
