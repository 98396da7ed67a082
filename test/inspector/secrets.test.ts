/** Secrets are planted wherever the runtime meets them; then every byte that leaves it is searched. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { serveInspector } from '../../src/inspector/serve-inspector.js';
import { createRuntime } from '../../src/runtime/runtime.js';
import { faultDriver } from '../../src/testing/index.js';

/** Never to be seen outside: of a volume, of the environment of a task, in the contexts that a plugin gives. */
const marks = [
  'planted-volume-secret-7c1f',
  'planted-environment-secret-92ab',
  'planted-stored-value-51d0',
  'planted-context-secret-03ce',
];

const inBase64 = (text: string): string => Buffer.from(text).toString('base64').replace(/=+$/, '');

describe('secrets', () => {
  it('X5, 34.11 in volumes, contexts, texts of plugins, environments: none leaves by feed, API, Stately, journal', async () => {
    const [ofVolume = '', ofTask = '', ofRecord = '', ofContext = ''] = marks;
    const directory = mkdtempSync(join(tmpdir(), 'stagecraft-secrets-'));
    const socketPath = join(directory, 'csi.sock');
    const driver = await faultDriver({ socketPath, nodeId: 'n1', dataDir: join(directory, 'driver'), attach: true });
    const logged: unknown[] = [];
    const log = (...said: unknown[]): void => {
      logged.push(said.map((one) => (one instanceof Error ? one.stack : one)));
    };
    const runtime = await createRuntime({
      nodeId: 'n1',
      dataDir: join(directory, 'runtime'),
      secrets: { resolve: async (refs) => Object.fromEntries(Object.keys(refs).map((key) => [key, ofVolume])) },
      retry: { initialMs: 10, maxMs: 20 },
      logger: { debug: log, info: log, warn: log, error: log },
    });
    const inspector = await serveInspector(runtime, { allowSend: true });
    const seen: string[] = [];
    try {
      const { origin } = new URL(inspector.url);
      const headers = { authorization: `Bearer ${inspector.token}` };
      for (const path of ['/v1/feed', '/v1/stately']) {
        const socket = new WebSocket(`${origin.replace('http', 'ws')}${path}`, { headers });
        socket.on('message', (data) => seen.push(String(data)));
        await once(socket, 'open');
      }
      // The plugin says the secret again in its errors, and the task has one in its environment.
      await runtime.plugins.register({
        ...{ type: 'csi-controller', name: 'disk', allocId: 'a1' },
        connection: { socketPath },
      });
      await runtime.plugins.waitFor('csi-controller', 'disk');
      const topology = { 'topology.hostpath.csi.stagecraft/node': 'n1' };
      await runtime.nodes.report({ id: 'n1', plugins: [{ name: 'disk', nodeId: 'n1', topology }] });
      await runtime.tasks.start({
        ...{ id: 'secretive', type: 'node', command: ['sh', '-c', 'sleep 60'] },
        env: { PASSWORD: ofTask, LEVEL: { stored: ofRecord } },
      });
      const chap = { password: ofContext };
      driver.script('CreateVolume', { code: 'INTERNAL', text: `the password ${ofVolume} is wrong` });
      driver.script('CreateVolume', { answer: { volume: { volumeId: 'v-1', volumeContext: chap } } });
      driver.script('ControllerPublishVolume', { code: 'INTERNAL', text: `no login with ${inBase64(ofVolume)}` });
      driver.script('ControllerPublishVolume', { answer: { publishContext: chap } });
      const capability = { accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;
      const secrets = { password: { env: 'PASSWORD' } };
      await runtime.volumes.create({ id: 'data', plugin: 'disk', capabilities: [capability], secrets });
      await runtime.volumes.publish({ id: 'data' }, 'n1');
      const addresses = ['volume/default/data', 'task/n1/secretive', 'plugin/n1/csi-controller/disk/a1', 'node/n1'];
      const paths = addresses.flatMap((address) =>
        ['actors', 'history', 'journal', 'moments'].map((route) => `/v1/${route}/${encodeURIComponent(address)}`),
      );
      for (const path of [...paths, '/v1/overview', '/v1/journal-export', '/v1/events?follow=false', '/metrics']) {
        const answer = await fetch(`${origin}${path}`, { headers });
        expect(answer.status, path).to.equal(200);
        seen.push(await answer.text());
      }
      const whatIf = { address: 'volume/default/data', edits: [{ drop: 4 }] };
      const answer = await fetch(`${origin}/v1/what-if`, {
        ...{ method: 'POST', body: JSON.stringify(whatIf) },
        headers: { ...headers, 'content-type': 'application/json' },
      });
      seen.push(await answer.text());
      // A viewer that comes now gets all actors as they are.
      const late = new WebSocket(`${origin.replace('http', 'ws')}/v1/stately`, { headers });
      const present: string[] = [];
      late.on('message', (data) => present.push(String(data)));
      await once(late, 'open');
      while (!addresses.every((address) => present.some((text) => text.includes(`"name":"${address}"`))))
        await new Promise((resolve) => setTimeout(resolve, 10));
      seen.push(...present);
      late.close();
      while (!seen.some((text) => text.includes('ControllerPublishVolume'))) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    } finally {
      await inspector.close();
      await runtime.close({ release: true });
      await driver.stop();
      rmSync(directory, { recursive: true, force: true });
    }
    const all = [...seen, JSON.stringify(logged)].join('\n');
    // The search would have found them: the plugin's words are seen, without the secret.
    expect(all).to.contain('is wrong').and.contain('no login with').and.contain('PASSWORD');
    for (const mark of marks)
      expect(
        [mark, inBase64(mark)].some((form) => all.includes(form)),
        mark,
      ).to.equal(false);
  });
});
