/** The fault driver's process: how it dies, stands still, comes back and goes, and that nothing of it is left. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { builtProgram } from '../built.js';
import { builtRefusalOf, refusalOf } from '../refusal.js';
import { deadline, inScenes, isAlive } from './scene.js';

describe('fault driver: its process', () => {
  const scenes = inScenes();

  for (const [moment, work] of [
    ['before', undefined],
    ['after', 'OK'],
  ] as const) {
    it(`dies ${moment} its work: the record says so, its socket stays, and it can be started again`, async () => {
      const driver = await scenes.scene.driver();
      const client = scenes.scene.client();
      const { pid } = driver;
      driver.script('NodeGetInfo', { die: moment });
      driver.script('NodeGetInfo', { code: 'INTERNAL', text: 'scripted before the death' });
      expect(await refusalOf(client.nodeGetInfo())).to.include({ grpcCode: 'UNAVAILABLE' });
      const { end } = await driver.waitForEnd(1);
      expect(end).to.include({ how: 'died' });
      expect(end?.work).to.equal(work);
      expect(existsSync(driver.socketPath)).to.equal(true);
      await driver.start();
      expect(driver.pid).not.to.equal(pid);
      expect((await refusalOf(client.nodeGetInfo())).message).to.contain('scripted before the death');
      expect(await client.nodeGetInfo()).to.include({ nodeId: 'node-1' });
      expect(driver.calls().map(({ number, end: { how } = {} }) => [number, how])).to.deep.equal([
        [1, 'died'],
        [2, 'answered'],
        [3, 'answered'],
      ]);
    });

    it(`stands still ${moment} its work, and goes on later`, async () => {
      const driver = await scenes.scene.driver();
      const client = scenes.scene.client();
      driver.script('Probe', { stop: moment });
      const answer = client.probe();
      await driver.waitForFreeze();
      expect(await refusalOf(client.nodeGetInfo(deadline))).to.include({ grpcCode: 'DEADLINE_EXCEEDED' });
      driver.thaw();
      expect(await answer).to.deep.equal({ ready: true });
      expect(await client.nodeGetInfo()).to.include({ nodeId: 'node-1' });
    });
  }

  it('frozen and thawed: calls run into their deadline, then are answered', async () => {
    const driver = await scenes.scene.driver();
    const client = scenes.scene.client();
    await driver.freeze();
    expect(await refusalOf(client.probe(deadline))).to.include({ grpcCode: 'DEADLINE_EXCEEDED' });
    driver.thaw();
    expect(await client.probe()).to.deep.equal({ ready: true });
  });

  it('waited for in vain to stand still: a TIMEOUT that says so, and a later wait is not disturbed', async () => {
    const driver = await scenes.scene.driver();
    const refusal = await builtRefusalOf(driver.waitForFreeze({ timeoutMs: 5 }));
    expect(refusal.code).to.equal('TIMEOUT');
    expect(refusal.message).to.equal('waited 5 ms in vain until the fault driver stood still');
    const waiting = driver.waitForFreeze();
    await driver.freeze();
    await waiting;
  });

  it('thawed while it is being frozen: it runs, and can be frozen again', async () => {
    const driver = await scenes.scene.driver();
    const client = scenes.scene.client();
    const frozen = driver.freeze();
    driver.thaw();
    await frozen;
    expect(await client.probe()).to.deep.equal({ ready: true });
    await driver.freeze();
    expect(stateOf(driver.pid)).to.equal('T');
    driver.thaw();
    expect(await client.probe()).to.deep.equal({ ready: true });
  });

  it('stopped while it is being frozen: it is gone', async () => {
    const driver = await scenes.scene.driver();
    const frozen = driver.freeze();
    await driver.stop();
    await frozen;
    expect(driver.pid).to.equal(undefined);
    expect(existsSync(driver.socketPath)).to.equal(false);
  });

  it('stopped while its script is about to stop it: it is gone', async () => {
    const driver = await scenes.scene.driver();
    driver.script('Probe', { stop: 'before' });
    const answer = refusalOf(scenes.scene.client().probe());
    await driver.waitForCall('Probe');
    await driver.stop();
    await answer;
    expect(driver.pid).to.equal(undefined);
  });

  it('frozen over the deadline of a call: its repeat overlaps with nothing', async () => {
    const driver = await scenes.scene.driver();
    const client = scenes.scene.client();
    const target = { volumeId: 'v-1', targetPath: '/t' };
    driver.script('NodeUnpublishVolume', { stop: 'before', answer: {} }).script('NodeUnpublishVolume', { answer: {} });
    const late = refusalOf(client.nodeUnpublishVolume(target, deadline));
    await driver.waitForFreeze();
    expect(await late).to.include({ grpcCode: 'DEADLINE_EXCEEDED' });
    const repeat = client.nodeUnpublishVolume(target);
    driver.thaw();
    await repeat;
    await driver.waitForEnd(1);
    expect(driver.violations()).to.deep.equal([]);
  });

  it('killed, also while frozen: calls under way have died, and its script and record go on', async () => {
    const driver = await scenes.scene.driver();
    const client = scenes.scene.client();
    driver.script('Probe', { hang: 'before' }).script('Probe', { code: 'UNKNOWN' });
    const answer = refusalOf(client.probe());
    await driver.waitForCall('Probe');
    await driver.freeze();
    await driver.kill();
    expect(await answer).to.include({ grpcCode: 'UNAVAILABLE' });
    expect(driver.pid).to.equal(undefined);
    expect(driver.calls()[0]?.end).to.include({ how: 'died' });
    await driver.start();
    expect(await refusalOf(client.probe())).to.include({ grpcCode: 'UNKNOWN' });
  });

  it('replaces its socket: who is connected stays so, the next call goes to the new one', async () => {
    const driver = await scenes.scene.driver();
    const client = scenes.scene.client();
    driver.script('Probe', { hang: 'before' });
    const answer = client.probe();
    await driver.waitForCall('Probe');
    await driver.replaceSocket();
    await client.nodeGetInfo();
    driver.release();
    expect(await answer).to.deep.equal({ ready: true });
    expect(driver.calls().map(({ socket }) => socket)).to.deep.equal([1, 2]);
    await driver.stop();
    expect(existsSync(driver.socketPath)).to.equal(false);
  });

  it("does not take a socket that lives, unless it is to; what is another's by then it leaves alone", async () => {
    const { scene } = scenes;
    const first = await scene.driver();
    const second = { nodeId: 'node-2', dataDir: join(scene.folder, 'other') };
    expect((await builtRefusalOf(scene.driver(second))).code).to.equal('SOCKET_IN_USE');
    await scene.driver({ ...second, takesOver: true });
    const client = scene.client();
    expect(await client.nodeGetInfo()).to.include({ nodeId: 'node-2' });
    await first.stop();
    expect(await client.nodeGetInfo()).to.include({ nodeId: 'node-2' });
  });

  it('stopped, also while frozen or with calls that hang, it is gone with its socket, and starts again', async () => {
    const driver = await scenes.scene.driver();
    const client = scenes.scene.client();
    driver.script('Probe', { hang: 'before' });
    const answer = refusalOf(client.probe());
    await driver.waitForCall('Probe');
    await driver.freeze();
    await driver.stop();
    await answer;
    expect(existsSync(driver.socketPath)).to.equal(false);
    await driver.start();
    expect(await client.probe()).to.deep.equal({ ready: true });
  });

  it('waiting ends when it is stopped; while it only has died it goes on', async () => {
    const driver = await scenes.scene.driver();
    const waiting = driver.waitForCall('Probe');
    await driver.kill();
    await driver.start();
    await scenes.scene.client().probe();
    expect(await waiting).to.include({ number: 1 });
    const again = builtRefusalOf(driver.waitForCall('Probe'));
    await driver.stop();
    expect((await again).message).to.contain('was stopped');
  });

  it('says what keeps it from starting, and leaves no process', async () => {
    const before = ownChildren();
    expect(await builtRefusalOf(scenes.scene.driver({ nodeId: 'n'.repeat(257) }))).to.include({
      code: 'INVALID_ARGUMENT',
    });
    expect(before).to.include.members(ownChildren());
  });

  it('misuse is told: started twice, thawed where it does not run', async () => {
    const driver = await scenes.scene.driver();
    expect(await driver.start().catch((error: unknown) => error)).to.be.instanceOf(TypeError);
    await driver.stop();
    expect(() => driver.thaw()).to.throw(TypeError, 'start it first');
  });

  it('started twice at once after it died: the second is refused, and one process runs until it is stopped', async () => {
    const driver = await scenes.scene.driver();
    const others = ownChildren().filter((pid) => pid !== String(driver.pid));
    const killed = driver.kill();
    const starts = await Promise.allSettled([driver.start(), driver.start(), killed]);
    expect(starts.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
    expect(await scenes.scene.client().probe()).to.deep.equal({ ready: true });
    await driver.stop();
    expect(others).to.include.members(ownChildren());
  });

  it('stopped while a start waits for the end of the process before: none runs', async () => {
    const driver = await scenes.scene.driver();
    const others = ownChildren().filter((pid) => pid !== String(driver.pid));
    const killed = driver.kill();
    const started = builtRefusalOf(driver.start());
    await Promise.all([driver.stop(), killed]);
    expect((await started).code).to.equal('ABORTED');
    expect(others).to.include.members(ownChildren());
  });

  for (const state of ['running', 'frozen'] as const) {
    it(`${state}, it does not outlive who started it, whatever killed that`, async () => {
      const { scene } = scenes;
      const owner = ownerOf(scene.folder, state);
      scene.watch(owner.pid);
      const pid = Number(await firstLineOf(owner));
      scene.watch(pid);
      expect(isAlive(pid)).to.equal(true);
      owner.kill('SIGKILL');
      for (let leftMs = 10_000; isAlive(pid) && leftMs > 0; leftMs -= 10) await setTimeout(10);
      expect(isAlive(pid)).to.equal(false);
    });
  }
});

/** `T` is one that stands still. */
function stateOf(pid: number | undefined): string | undefined {
  const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return status.slice(status.lastIndexOf(')') + 2).at(0);
}

const ownChildren = (): string[] =>
  readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean);

/** A process that starts a driver and tells its pid. */
function ownerOf(folder: string, state: 'running' | 'frozen'): ChildProcess {
  const program = builtProgram(new URL('./fault-owner.ts', import.meta.url));
  return spawn(process.execPath, [program, folder, state], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function firstLineOf({ stdout }: ChildProcess): Promise<string> {
  if (!stdout) throw new Error('its output goes elsewhere');
  const [line]: unknown[] = await once(createInterface(stdout), 'line');
  return String(line);
}
