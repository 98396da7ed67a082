/** Sending events to actors by hand: off by default, only what the machine takes, and kept with who did it. */
import { expect } from 'chai';
import { answerOf } from '../scenarios/agent-process.js';
import { askAgent } from '../support/ask-agent.js';
import { ApiHouse, type Said } from './api-house.js';

describe('sending events by hand', function () {
  this.timeout(30_000);
  let api: ApiHouse;

  async function serve(allowSend: boolean): Promise<void> {
    api = await new ApiHouse().open({ allowSend });
    await api.create('data');
  }

  afterEach(() => api.dispose());

  const address = 'volume/default/data';
  const pause = { type: 'volume.set-availability', availability: 'pause' };
  const post = (event: object, to = address): Promise<object> =>
    answerOf(api.socketPath, 'POST', '/v1/actors/send', { address: to, event, by: 'alice' });
  const seqOf = async (): Promise<number> => (await api.house.runtime.actors.inspect(address)).seq;

  const cli = (...args: string[]): Promise<Said> => api.cli('actor', 'send', ...args);

  it('X3 off by default: refused with the setting that allows it, and nothing is written', async () => {
    await serve(false);
    const before = await seqOf();
    expect(await post(pause)).to.include({ status: 403, code: 'FORBIDDEN' });
    const { code, stderr } = await cli(address, 'volume.retry', '--yes');
    expect(code).not.to.equal(0);
    expect(stderr).to.contain('inspector.allowSend');
    expect(await seqOf()).to.equal(before);
  });

  it('X3 allowed: the actor takes it, and its journal and history say who sent it', async () => {
    await serve(true);
    expect(await post(pause)).to.include({ status: 200 });
    expect((await api.house.runtime.volumes.get({ id: 'data' }))?.availability).to.equal('pause');
    let last: object | undefined;
    for await (const entry of api.house.runtime.journal.entries(address)) last = entry;
    expect(last).to.deep.include({ source: { kind: 'request', by: 'alice' } });
    const history = await askAgent(api.socketPath, 'GET', `/v1/history/${encodeURIComponent(address)}?limit=1`);
    expect(JSON.stringify(history)).to.contain('"from":"alice"');
  });

  it('X3 what its machine does not take now, or would throw at, is refused before anything is written', async () => {
    await serve(true);
    const before = await seqOf();
    for (const event of [{ type: 'xstate.done.actor.createVolume' }, { type: 'settle' }, { type: 'no.such' }])
      expect(await post(event), event.type).to.include({ status: 400, code: 'INVALID_ARGUMENT' });
    expect(await post({ type: 'volume.claim' })).to.include({ status: 400, code: 'INVALID_ARGUMENT' });
    expect(await post({ availability: 'pause' })).to.include({ status: 400, code: 'INVALID_ARGUMENT' });
    expect(await post(pause, 'volume/default/none')).to.include({ code: 'ACTOR_NOT_FOUND' });
    expect(await seqOf()).to.equal(before);
  });

  it('X3 the command line shows what it would send, and sends it only with --yes', async () => {
    await serve(true);
    const before = await seqOf();
    const fields = ['--data', '{"availability":"pause"}'];
    const shown = await cli(address, 'volume.set-availability', ...fields);
    expect(shown.code).to.equal(2);
    expect(shown.stderr).to.contain('nothing was sent').and.contain('"availability":"pause"');
    expect(await seqOf()).to.equal(before);
    expect(await cli(address, 'volume.set-availability', ...fields, '--yes')).to.include({ code: 0 });
    expect((await api.house.runtime.volumes.get({ id: 'data' }))?.availability).to.equal('pause');
    expect((await cli(address, 'volume.retry', '--data', '[1]')).stderr).to.contain('--data takes a JSON object');
  });
});
