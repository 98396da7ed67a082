/** T3 T4: a plugin is ready once every service that it is to serve answers well. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Fingerprint } from '../../machines/plugin/plugin.js';
import type { ReadyReport } from '../../machines/task/task-types.js';
import { awaitReady, type ProbePlugin } from '../../src/tasks/await-ready.js';
import { type SimulatedClock, simulatedClock } from '../../src/testing/simulated-clock.js';
import { environments, recordedSpec } from './recorded-spec.js';

const healthTimeoutMs = 30_000;
const well: Fingerprint = { healthy: true, description: 'well', basic: { pluginName: 'd', vendorVersion: '1' } };
const unwell: Fingerprint = { ...well, healthy: false, description: 'no license' };
const spec = recordedSpec({ id: 'ebs', type: 'monolith', command: ['/bin/true'], healthTimeoutMs });

/** Answers only that it was given up. */
const silent = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });

describe('awaiting that a plugin of two services is ready', () => {
  let dataDir: string;
  let clock: SimulatedClock;
  let asked: { type: string; signal: AbortSignal }[];

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'stagecraft-ready-'));
    writeFileSync(join(dataDir, 'csi.sock'), '');
    clock = simulatedClock();
    asked = [];
  });
  afterEach(() => rmSync(dataDir, { recursive: true }));

  /** @param answer what is said to each question, counted from 1 for each service */
  function ready(
    answer: (type: string, count: number, signal: AbortSignal) => Promise<Fingerprint>,
  ): Promise<ReadyReport> {
    const probe: ProbePlugin = ({ type }, signal) => {
      asked.push({ type, signal });
      return answer(type, asked.filter((question) => question.type === type).length, signal);
    };
    return awaitReady(
      { paths: { dataDir, socketRoot: dataDir }, clock, probe, environments },
      {
        spec,
        spawned: { allocId: 'a', token: 't', socketPath: join(dataDir, 'csi.sock'), process: null },
        signal: new AbortController().signal,
      },
    );
  }

  for (const late of ['csi-controller', 'csi-node']) {
    it(`T3 it is asked again until ${late} is well too`, async () => {
      const waiting = ready(async (type, count) => (type === late && count < 3 ? unwell : well));
      await clock.advance(5_000);
      expect(await waiting).to.deep.equal({ pluginName: 'd', vendorVersion: '1' });
      expect(asked.map(({ type }) => type)).to.deep.equal(
        Array.from({ length: 3 }, () => ['csi-controller', 'csi-node']).flat(),
      );
    });

    it(`T4 ${late} is never well: it is not ready, and what that one says is told`, async () => {
      const waiting = ready(async (type) => (type === late ? unwell : well)).catch((error: unknown) => error);
      await clock.advance(healthTimeoutMs);
      expect(await waiting).to.include({ code: 'NOT_READY', message: 'not ready within 30000 ms: no license' });
    });
  }

  it('T4 a service that does not answer is given up after 5 s and asked anew', async () => {
    const waiting = ready((type, count, signal) =>
      type === 'csi-node' && count === 1 ? silent(signal) : Promise.resolve(well),
    );
    await clock.advance(4_999);
    expect(asked).to.have.length(2);
    await clock.advance(1_000);
    expect(await waiting).to.include({ pluginName: 'd' });
    expect(asked).to.have.length(4);
  });

  it('T8 one service fails at once: the call to the other ends with it, none runs on', async () => {
    const waiting = ready((type, count, signal) => {
      if (count > 2) return Promise.resolve(well);
      return type === 'csi-controller' ? Promise.reject(new Error('refused')) : silent(signal);
    });
    await clock.advance(0);
    expect(asked.map(({ signal }) => signal.aborted)).to.deep.equal([true, true]);
    await clock.advance(2_000);
    await waiting;
    expect(asked).to.have.length(6);
    expect(asked.slice(0, 4).filter(({ signal }) => !signal.aborted)).to.deep.equal([]);
    expect(clock.pending).to.equal(0);
  });
});
