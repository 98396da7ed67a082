/** Requests sent to actors by hand: off by default, with all checks of the same request by a program, and kept with who did it. */
import { expect } from 'chai';
import { createClient } from '../../src/client/client.js';
import { messageOf } from '../../src/errors.js';
import { answerOf } from '../scenarios/agent-process.js';
import { askAgent } from '../support/ask-agent.js';
import { ApiHouse, type Said } from './api-house.js';

describe('sending events by hand', () => {
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
  /** Message of the refusal. */
  const faultOf = (event: object): Promise<string> =>
    askAgent(api.socketPath, 'POST', '/v1/actors/send', { body: { address, event, by: 'alice' } }).then(
      () => 'no fault',
      messageOf,
    );
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

  it('X3, 34.5 events between actors, effects and timers are refused, and nothing is written', async () => {
    await serve(true);
    const before = await seqOf();
    const internal = [
      ...['xstate.done.actor.createVolume', 'settle', 'call.interrupted', 'wait.changed', 'no.such', 'toString'],
      ...['volume.unstaged', 'volume.hold-released', 'volume.observed', 'volume.node-expanded', 'volume.fence'],
      ...['volume.add-slot', 'volume.withdraw', 'volume.claim-and-publish', 'volume.create'],
    ];
    for (const type of internal)
      expect(await post({ type, nodeId: 'a', claimGeneration: 1 }), type).to.include({
        ...{ status: 400, code: 'INVALID_ARGUMENT' },
      });
    const registry = `registry/${api.house.runtime.nodeId}`;
    expect(await post({ type: 'registry.stop', release: true }, registry)).to.include({ status: 400 });
    expect(await post({ availability: 'pause' })).to.include({ status: 400, code: 'INVALID_ARGUMENT' });
    expect(await post(pause, 'volume/default/none')).to.include({ code: 'ACTOR_NOT_FOUND' });
    expect(await seqOf()).to.equal(before);
  });

  it('X3, 34.5 wrong and unknown fields are refused as those of the same request by a program', async () => {
    await serve(true);
    const before = await seqOf();
    for (const [event, fault] of [
      [{ type: 'volume.set-availability', availability: 'banana' }, 'availability'],
      [{ type: 'volume.unpublish', nodeId: 5 }, 'nodeId'],
      [{ type: 'volume.modify', mutableParameters: 5 }, 'mutableParameters'],
      [{ type: 'volume.expand', capacity: { requiredBytes: -1 } }, 'capacity'],
      [{ type: 'volume.publish', nodeId: 'a', csiNodeId: 'other' }, 'csiNodeId'],
      [{ type: 'volume.retry', accept: 'x' }, 'accept'],
    ] as const) {
      expect(await post(event), event.type).to.include({ status: 400, code: 'INVALID_ARGUMENT' });
      expect(await faultOf(event), event.type).to.contain(fault);
    }
    expect(await seqOf()).to.equal(before);
  });

  it('X3, 34.5 a node that does not exist gets no volume, as by the command of that name', async () => {
    await serve(true);
    expect(await post({ type: 'volume.publish', nodeId: 'nowhere' })).to.include({ code: 'NODE_NOT_FOUND' });
  });

  it('X3, 34.5 what follows from a request by hand is not journaled in the name of its sender', async () => {
    await serve(true);
    const sent = post({ type: 'volume.publish', nodeId: 'a' });
    await api.house.rest();
    expect(await sent).to.include({ status: 200 });
    const sources: object[] = [];
    for await (const { source, event } of api.house.runtime.journal.entries(address))
      if ('by' in source) sources.push({ ...source, type: event?.type });
    expect(sources).to.deep.equal([{ kind: 'request', by: 'alice', type: 'volume.publish' }]);
  });

  it('X3, 34.5 each request that an actor offers is one that it takes', async () => {
    await serve(true);
    const { accepts } = await createClient({ socketPath: api.socketPath }).actors.inspect({ params: { address } });
    expect(accepts).to.include.members(['volume.retry', 'volume.publish', 'volume.delete']);
    expect(accepts).not.to.include('volume.unstaged');
    for (const type of accepts) expect(await faultOf({ type, x: 1 })).to.contain(`the fields of ${type}`);
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
