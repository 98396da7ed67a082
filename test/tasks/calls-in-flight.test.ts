/** T7: a stop of a task while somebody has a call in flight to its driver, with real processes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { openChannels } from '../../src/csi/channel.js';
import { type Clock, systemClock } from '../../src/engine/clock.js';
import { createRuntime, type Runtime, type RuntimeOptions } from '../../src/index.js';
import { taskMark } from '../../src/tasks/paths.js';
import { findProcesses as searchProcesses } from '../../src/tasks/processes.js';
import { refusalOf } from '../refusal.js';
import { until } from '../until.js';
import { findProcesses } from './found.js';
import { SlowScene, waitsForCall } from './slow-scene.js';

/** Only the 30 s that calls in flight have are over sooner. */
const impatientClock: Clock = {
  ...systemClock,
  after: (delayMs, callback) => systemClock.after(delayMs === 30_000 ? 200 : delayMs, callback),
};

describe('stops of tasks with a call in flight', () => {
  let scene: SlowScene;
  let runtime: Runtime;
  let agent: ChildProcess | undefined;

  beforeEach(() => {
    scene = new SlowScene(mkdtempSync(join(tmpdir(), 'stagecraft-slow-')));
  });
  afterEach(async () => {
    agent?.kill('SIGKILL');
    await runtime.close();
    for (const { group } of findProcesses(`${scene.dataDir}#slow`)) process.kill(-group, 'SIGKILL');
    rmSync(scene.folder, { recursive: true });
  });

  const open = async (options: Partial<RuntimeOptions> = {}): Promise<void> => {
    runtime = await createRuntime({ nodeId: 'n1', dataDir: scene.dataDir, ...options });
  };

  it('T7 the call gets its answer, new ones are refused meanwhile, and only then comes SIGTERM', async () => {
    await open();
    const { client, call } = await scene.begin(runtime);
    const stopped = runtime.tasks.stop('slow');
    await waitsForCall(runtime);
    expect(await refusalOf(client.probe())).to.include({ code: 'ABORTED', rpc: 'Probe' });
    expect((await refusalOf(runtime.plugins.dispense('csi-node', 'slow'))).code).to.equal('PLUGIN_NOT_FOUND');
    expect(runtime.tasks.status('slow').state).to.equal('stopping');
    writeFileSync(scene.targetPath, '');
    await call;
    await stopped;
    expect(scene.record).to.deep.equal(['begun', 'ended', 'SIGTERM']);
    expect(readdirSync(join(scene.dataDir, 'plugins'))).to.deep.equal([]);
    expect(openChannels()).to.equal(0);
  });

  it('T7, 34.21 a plugin that has another name than its task: the stop waits for the call, too', async () => {
    await open();
    const { call } = await scene.begin(runtime, 'disk');
    const stopped = runtime.tasks.stop('slow');
    await waitsForCall(runtime);
    // A stop that does not wait would have ended the process after one such search.
    const mark = taskMark(scene, 'slow');
    for (let search = 0; search < 5; search += 1) await searchProcesses(mark);
    expect(scene.record).to.deep.equal(['begun']);
    writeFileSync(scene.targetPath, '');
    await call;
    await stopped;
    expect(scene.record).to.deep.equal(['begun', 'ended', 'SIGTERM']);
  });

  it('T7 a call that never ends holds up the stop for its limit only, and ends as of unknown outcome', async () => {
    await open({ clock: impatientClock, fingerprint: { intervalMs: 60_000, timeoutMs: 10_000 } });
    const { call } = await scene.begin(runtime);
    await runtime.tasks.stop('slow');
    expect(await refusalOf(call)).to.include({ code: 'ABORTED', rpc: 'NodePublishVolume', answerClass: 'unknown' });
    expect(scene.record).to.deep.equal(['begun', 'SIGTERM']);
    expect(openChannels()).to.equal(0);
  });

  it('T7 the runtime closes and releases: it waits for the call as a stop does', async () => {
    await open();
    const { call } = await scene.begin(runtime);
    const closed = runtime.close({ release: true });
    await until(() => runtime.tasks.status('slow').state === 'stopping');
    writeFileSync(scene.targetPath, '');
    await call;
    await closed;
    expect(scene.record).to.deep.equal(['begun', 'ended', 'SIGTERM']);
  });

  it('T7 the driver is killed meanwhile: the call fails, and the stop goes on', async () => {
    await open();
    const { call } = await scene.begin(runtime);
    const stopped = runtime.tasks.stop('slow');
    await waitsForCall(runtime);
    const { pid } = runtime.tasks.status('slow');
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
    expect(await refusalOf(call)).to.include({ code: 'CSI_ERROR', grpcCode: 'UNAVAILABLE', final: false });
    await stopped;
    expect(scene.record).to.deep.equal(['begun']);
  });

  it('T7 the runtime closes meanwhile: the call ends, and the next runtime continues the stop', async () => {
    await open();
    const { call } = await scene.begin(runtime);
    const stopped = refusalOf(runtime.tasks.stop('slow'));
    await waitsForCall(runtime);
    await runtime.close();
    expect((await stopped).code).to.equal('RUNTIME_CLOSED');
    expect(await refusalOf(call)).to.include({ code: 'ABORTED', rpc: 'NodePublishVolume' });
    expect(scene.record).to.deep.equal(['begun']);
    await open();
    await ended();
    expect(scene.record).to.deep.equal(['begun', 'SIGTERM']);
  });

  it('T7 the agent is killed meanwhile: its successor, who has no call in flight, goes on with the stop', async () => {
    const program = fileURLToPath(new URL('slow-scene.ts', import.meta.url));
    const killed = spawn(process.execPath, ['--import=tsx', program, scene.folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    agent = killed;
    const [state] = await once(createInterface(killed.stdout), 'line');
    expect(state).to.equal('stopping');
    const exited = once(killed, 'exit');
    killed.kill('SIGKILL');
    await exited;
    expect(scene.record).to.deep.equal(['begun']);
    await open();
    await ended();
    expect(scene.record).to.deep.equal(['begun', 'SIGTERM']);
    expect(findProcesses(`${scene.dataDir}#slow`)).to.deep.equal([]);
  });

  async function ended(): Promise<void> {
    const updates = runtime.tasks.updates({ from: '0' });
    for await (const { change } of updates) if (change.type === 'stopped') return;
  }
});
