/** How a run goes on when the driver hangs, dies or is left; what it cleans up, and what it never touches. Needs root. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Metadata, Server, ServerCredentials, type sendUnaryData, status } from '@grpc/grpc-js';
import { expect } from 'chai';
import { requestCodec } from '../../src/csi/codec.js';
import { rpcs } from '../../src/csi/generated/plain.js';
import { addCsiHandlers, type CsiHandlers, CsiStatus } from '../../src/csi/server.js';
import { StagecraftError } from '../../src/errors.js';
import { checkDriver, selectedChecks } from '../../src/tools/driver-check/run.js';
import { notPassed, optionsFor, resultsOf, withDriver } from './bench.js';
import { rightDriver } from './right-driver.js';
import { replaced } from './wrong.js';

const never = <T>(): Promise<T> => new Promise(() => {});
const right = (handlers: CsiHandlers): CsiHandlers => handlers;

describe('a run of driver-check', () => {
  it('an RPC that hangs fails its checks by the timeout, blocks what needs it, and the run goes on', async () => {
    await withDriver(
      (handlers) => replaced(handlers, 'ControllerPublishVolume', never),
      async (scene) => {
        const options = { ...optionsFor(scene), timeoutMs: 200 };
        const results = await resultsOf({ ...options, only: 'published' });
        const byId = Object.fromEntries(results.map(({ id, outcome, why }) => [id, `${outcome}: ${why}`]));
        expect(byId['DeleteVolume/in-use']).to.match(/^blocked: ControllerPublishVolume.*within 200 ms/);
        expect(byId['ListVolumes/published-nodes']).to.include('gave no answer in time before');
        expect(byId['ControllerModifyVolume/unknown-parameter']).to.equal(undefined);
        const [published] = await resultsOf({ ...options, only: 'ControllerPublishVolume/unknown-volume' });
        expect(published?.outcome).to.equal('failed');
        expect(published?.why).to.include('DEADLINE_EXCEEDED').and.to.include('within 200 ms');
      },
    );
  });

  it('a run that is aborted cleans up, and makes no further check', async () => {
    const stop = new AbortController();
    await withDriver(
      (handlers) =>
        replaced(handlers, 'NodePublishVolume', async (request, next) => {
          const answer = await next(request);
          if (request.volumeCapability) stop.abort();
          return answer;
        }),
      async (scene) => {
        const results = await resultsOf({ ...optionsFor(scene), only: 'NodePublishVolume/', signal: stop.signal });
        expect(results.at(-1)).to.include({ id: 'clean-up', outcome: 'passed' });
        expect(results.length).to.be.lessThan(selectedChecks('NodePublishVolume/').length);
        expectNothingLeft(scene.state.volumes.size, scene.folder);
      },
    );
  });

  it('a run whose reader leaves cleans up before the reader goes on', async () => {
    await withDriver(right, async (scene) => {
      for await (const { id } of checkDriver(optionsFor(scene))) if (id === 'CreateVolume/repeat') break;
      expectNothingLeft(scene.state.volumes.size, scene.folder);
    });
  });

  it("others' volumes and snapshots are left alone", async () => {
    await withDriver(right, async (scene) => {
      const { CreateVolume } = rightDriver(scene.state);
      const { signal } = new AbortController();
      for (const name of ['a', 'b']) {
        const mount = { fsType: '', mountFlags: [], volumeMountGroup: '' };
        const volumeCapabilities = [{ mount, accessMode: { mode: 'SINGLE_NODE_WRITER' as const } }];
        const request = { name, volumeCapabilities, parameters: {}, secrets: {}, mutableParameters: {} };
        await CreateVolume?.(request, { signal });
      }
      const before = [...scene.state.volumes.keys()];
      const results = await resultsOf({ ...optionsFor(scene), only: 'Volume' });
      expect(notPassed(results)).to.deep.equal({
        'ControllerExpandVolume/offline-only': 'not offered',
        'NodeUnpublishVolume/one-target': 'not offered',
      });
      expect([...scene.state.volumes.keys()]).to.deep.equal(before);
    });
  });

  it('a volume of which nothing is known but its name is found again and deleted', async () => {
    let isLost = true;
    await withDriver(
      (handlers) =>
        replaced(handlers, 'CreateVolume', async (request, next) => {
          const answer = await next(request);
          if (!isLost) return answer;
          isLost = false;
          throw new CsiStatus('UNAVAILABLE', 'made, but who is told?');
        }),
      async (scene) => {
        const results = await resultsOf({ ...optionsFor(scene), only: 'CreateVolume/no-size' });
        expect(notPassed(results)).to.deep.equal({ 'CreateVolume/no-size': 'failed' });
        expect(scene.state.volumes.size).to.equal(0);
      },
    );
  });

  it('what can not be removed is named', async () => {
    await withDriver(
      (handlers) =>
        replaced(handlers, 'DeleteVolume', () => {
          throw new CsiStatus('INTERNAL', 'not today');
        }),
      async (scene) => {
        const results = await resultsOf({ ...optionsFor(scene), only: 'CreateVolume/no-size' });
        expect(results.at(-1)).to.include({ id: 'clean-up', outcome: 'failed' });
        expect(results.at(-1)?.why).to.match(/still there: the volume v-\d+ \(named "stagecraft-check-.*not today/);
      },
    );
  });

  it('secrets reach the driver, and are masked in what is told', async () => {
    let got: string | undefined;
    await withDriver(
      (handlers) =>
        replaced(handlers, 'CreateVolume', ({ secrets }) => {
          got = secrets.token;
          throw new CsiStatus('INTERNAL', `bad token ${secrets.token}`);
        }),
      async (scene) => {
        const secrets = { CreateVolume: { token: 'very-secret' } };
        const results = await resultsOf({ ...optionsFor(scene), secrets, only: 'CreateVolume/no-size' });
        expect(got).to.equal('very-secret');
        expect(results[0]?.call?.request).to.deep.include({ secrets: { token: '***' } });
        expect(JSON.stringify(results)).not.to.include('very-secret');
      },
    );
  });

  it('secrets that a driver gives back are masked: in its answers, in later requests, in what is wrong', async () => {
    const secret = 'very-secret-token';
    let times = 0;
    await withDriver(
      (handlers) =>
        replaced(handlers, 'CreateVolume', async (request, next) => {
          const { volume } = await next(request);
          const volumeContext = { long: `${'x'.repeat(75)}${secret}`, [secret]: 'key' };
          times += 1;
          return {
            volume: { ...volume, volumeId: `${request.secrets.token}-${times}`, volumeContext, capacityBytes: 1 },
          };
        }),
      async (scene) => {
        const options = { ...optionsFor(scene), secrets: { CreateVolume: { token: secret } } };
        const results = await resultsOf({ ...options, only: 'CreateVolume/size' });
        expect(results[0]?.call?.answer).to.include('***');
        const published = await resultsOf({ ...options, only: 'ControllerPublishVolume/repeat' });
        expect(published[0]?.call?.request).to.have.property('volumeId', '***-2');
        const repeated = await resultsOf({ ...options, only: 'CreateVolume/repeat' });
        expect(repeated[0]?.why).to.match(/the volume \*\*\*-\d again/);
        expect(JSON.stringify([results, published, repeated])).not.to.include('very-');
      },
    );
  });

  it('a driver that removes what is not its own fails, and the run goes on', async () => {
    await withDriver(
      (handlers) =>
        replaced(handlers, 'NodeUnstageVolume', async (request, next) => {
          const answer = await next(request);
          const path = request.stagingTargetPath;
          if (path) rmSync(dirname(path), { recursive: true, force: true });
          return answer;
        }),
      async (scene) => {
        const results = await resultsOf({ ...optionsFor(scene), only: 'NodeUnstageVolume/' });
        const repeat = results.find(({ id }) => id === 'NodeUnstageVolume/repeat');
        expect(repeat?.why).to.match(/^the driver removed .*, which it did not make$/);
        expect(results.map(({ id }) => id)).to.deep.equal([
          ...selectedChecks('NodeUnstageVolume/').map(({ id }) => id),
          'clean-up',
        ]);
        expect(results.at(-1)?.outcome).to.equal('passed');
        expectNothingLeft(scene.state.volumes.size, scene.folder);
      },
    );
  });

  it('a check that can not be made is blocked with the reason, and the run goes on', async () => {
    await withDriver(
      (handlers, { folder }) =>
        replaced(handlers, 'ControllerPublishVolume', (request, next) => {
          const own = readdirSync(folder).find((name) => name.endsWith('-s')) ?? '';
          // One of these is the path where the volume is to be staged next.
          for (let number = 0; number < 50; number += 1) writeFileSync(join(folder, own, 'p', `s${number}`), '');
          return next(request);
        }),
      async (scene) => {
        const results = await resultsOf({ ...optionsFor(scene), only: 'NodeUnstageVolume/' });
        const notStaged = results.find(({ id }) => id === 'NodeUnstageVolume/not-staged');
        expect(notStaged?.outcome).to.equal('blocked');
        expect(notStaged?.why).to.include('EEXIST');
        expect(notPassed(results.slice(-2))).to.deep.equal({});
        expectNothingLeft(scene.state.volumes.size, scene.folder);
      },
    );
  });

  it('whether a status carries details is not known of a driver that hangs', async () => {
    await withDriver(
      (handlers) => replaced(handlers, 'ValidateVolumeCapabilities', never),
      async (scene) => {
        const only = 'ValidateVolumeCapabilities/no-details';
        const [result] = await resultsOf({ ...optionsFor(scene), only, timeoutMs: 100 });
        expect(result?.outcome).to.equal('blocked');
        expect(result?.why).to.include('DEADLINE_EXCEEDED');
      },
    );
  });

  it('a run that is aborted while the driver does not even say who it is ends at once', async () => {
    const stop = new AbortController();
    await withDriver(
      (handlers) =>
        replaced(handlers, 'GetPluginInfo', () => {
          stop.abort();
          return never();
        }),
      async (scene) => {
        expect(await resultsOf({ ...optionsFor(scene), signal: stop.signal, timeoutMs: 600_000 })).to.deep.equal([]);
        expectNothingLeft(0, scene.folder);
      },
    );
  });

  it('what is not offered, and what has no endpoint, is not passed', async () => {
    await withDriver(
      (handlers) => ({ ...handlers, GetPluginCapabilities: () => ({}) }),
      async (scene) => {
        const { endpoint, ...options } = optionsFor(scene);
        const results = await resultsOf({ ...options, controllerEndpoint: endpoint ?? '', only: '/no-' });
        const outcomes = new Set(
          results
            .filter(({ id }) => id !== 'clean-up')
            .map(({ rpc, outcome }) => `${rpc.startsWith('Node')} ${outcome}`),
        );
        expect([...outcomes].sort()).to.deep.equal(['false not offered', 'true blocked']);
      },
    );
  });

  for (const rpc of ['ValidateVolumeCapabilities', 'NodePublishVolume'] as const)
    it(`${rpc}/no-details finds it when a status carries details`, async () => {
      await withDriver(right, async (scene) => {
        const server = new Server();
        const { [rpc]: _, ...others } = rightDriver(scene.state);
        addCsiHandlers(server, others);
        const metadata = new Metadata();
        metadata.set('grpc-status-details-bin', Buffer.from('x'));
        server.register<object, Buffer>(
          rpcs[rpc].path,
          (_call: unknown, callback: sendUnaryData<Buffer>) => callback({ code: status.INVALID_ARGUMENT, metadata }),
          (bytes) => bytes,
          requestCodec(rpc).decode,
          'unary',
        );
        const endpoint = `unix://${join(scene.folder, 'detailed.sock')}`;
        await new Promise((resolve) => server.bindAsync(endpoint, ServerCredentials.createInsecure(), resolve));
        const [result] = await resultsOf({ ...optionsFor(scene), endpoint, only: `${rpc}/no-details` });
        server.forceShutdown();
        expect(result).to.include({ outcome: 'failed' });
      });
    });

  it('nobody who answers, and options that can not be, are errors before anything is made', async () => {
    await withDriver(right, async (scene) => {
      const codeOf = async (options: Parameters<typeof resultsOf>[0]): Promise<string> =>
        resultsOf(options).then(
          () => 'none',
          (error: unknown) => (error instanceof StagecraftError ? error.code : String(error)),
        );
      const options = optionsFor(scene);
      expect(await codeOf({ ...options, endpoint: join(scene.folder, 'nobody.sock') })).to.equal('NOT_REACHABLE');
      expect(await codeOf({ only: 'Probe' })).to.equal('INVALID_ARGUMENT');
      expect(await codeOf({ ...options, only: 'no such check' })).to.equal('INVALID_ARGUMENT');
      expect(await codeOf({ ...options, skip: ['Probe/redy'] })).to.equal('INVALID_ARGUMENT');
      expect(await codeOf({ ...options, restartWaitMs: -1 })).to.equal('INVALID_ARGUMENT');
      expect(await codeOf({ ...options, prefix: '../evil/x' })).to.equal('INVALID_ARGUMENT');
      expect(await codeOf({ ...options, sizeBytes: 0.5 })).to.equal('INVALID_ARGUMENT');
      expect(await codeOf({ ...options, secrets: { NodeUnstageVolume: { a: 'b' } } })).to.equal('INVALID_ARGUMENT');
      expect(await codeOf({ ...options, targetDir: join(scene.folder, 'missing') })).to.equal('INVALID_ARGUMENT');
      expectNothingLeft(scene.state.volumes.size, scene.folder);
    });
  });

  it('what is not empty in its directories is reported, not removed', async () => {
    await withDriver(
      (handlers, state) =>
        replaced(handlers, 'NodeUnpublishVolume', async (request, next) => {
          const isThere = state.targets.has(request.targetPath);
          const answer = await next(request);
          if (isThere) writeFileSync(request.targetPath, 'something');
          return answer;
        }),
      async (scene) => {
        const results = await resultsOf({ ...optionsFor(scene), only: 'NodeUnpublishVolume/removes-mount' });
        expect(notPassed(results)).to.deep.equal({
          'NodeUnpublishVolume/removes-mount-target': 'failed',
          'clean-up': 'failed',
        });
        expect(results.at(-1)?.why).to.include('it is not empty');
      },
    );
  });
});

function expectNothingLeft(volumes: number, folder: string): void {
  expect(volumes).to.equal(0);
  expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.to.include(folder);
  expect(readdirSync(folder).filter((name) => name.startsWith('stagecraft-check'))).to.deep.equal([]);
}
