/** `stagecraft driver-check` as a process: its table, its exit codes, its end by a signal. Needs root. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type CsiHandlers, CsiStatus } from '../../src/csi/server.js';
import { serveDriver } from '../../src/tools/driver/serve.js';
import { mainPath } from '../scenarios/agent-process.js';
import { type Scene, withDriver } from './bench.js';
import { rightDriver } from './right-driver.js';
import { replaced } from './wrong.js';

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

const right = (handlers: CsiHandlers): CsiHandlers => handlers;

const start = (...parameters: string[]): ChildProcess =>
  spawn(process.execPath, [mainPath, 'driver-check', ...parameters]);

async function ended(child: ChildProcess): Promise<Ended> {
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  const [code]: (number | null)[] = await once(child, 'close');
  return { code: code ?? null, ...output };
}

const checks = ({ endpoint, folder }: Scene, ...more: string[]): ChildProcess =>
  start('--endpoint', endpoint, '--size', '1Mi', '--staging-dir', folder, '--target-dir', folder, ...more);

describe('stagecraft driver-check', () => {
  it('a driver that keeps the rules ends with 0 and a table', async () => {
    await withDriver(right, async (scene) => {
      const { code, stdout } = await ended(checks(scene, '--only', 'GetCapacity'));
      expect(stdout)
        .to.match(/^GetCapacity\/all +passed +Asked for nothing/m)
        .and.to.match(/^clean-up +passed/m);
      expect(stdout).to.include('\n3 passed, 0 failed, 0 warning, 0 blocked, 0 not offered, 0 skipped\n');
      expect(code).to.equal(0);
    });
  });

  it('a driver that breaks one ends with 1, the call and its request, also as JSON', async () => {
    await withDriver(
      (handlers) =>
        replaced(handlers, 'GetCapacity', () => {
          throw new CsiStatus('INTERNAL', 'who knows');
        }),
      async (scene) => {
        const { code, stdout, stderr } = await ended(checks(scene, '--only', 'GetCapacity'));
        expect(stdout).to.include('\nGetCapacity/all: GetCapacity {} → INTERNAL: who knows\n');
        expect([code, stderr]).to.deep.equal([1, '2 of the checks failed\n']);
        const asJson = await ended(checks(scene, '--only', 'GetCapacity', '--json'));
        const results: unknown = JSON.parse(asJson.stdout);
        expect(results).to.have.nested.property('[0].outcome', 'failed');
        expect(asJson.code).to.equal(1);
      },
    );
  });

  it('checks that --skip names, or begins the names of, are not made: one row for those in a row', async () => {
    await withDriver(right, async (scene) => {
      const skips = ['--skip', 'ControllerGetCapabilities/', '--skip', 'GetPluginCapabilities/named'];
      const { code, stdout } = await ended(checks(scene, '--only', 'Capabilities/', ...skips));
      expect(stdout)
        .to.match(/^GetPluginCapabilities\/stable +passed/m)
        .and.to.match(/^GetPluginCapabilities\/named +skipped .* by request$/m)
        .and.to.match(/^… and 3 more skipped for the same reason, up to ControllerGetCapabilities\/unadvertised$/m)
        .and.to.match(/^NodeGetCapabilities\/stable +passed/m);
      expect(stdout).to.match(/, 4 skipped$/m);
      expect(code).to.equal(0);
    });
  });

  it('a driver that is gone: one row for all blocked checks, and each failed call once', async () => {
    await withDriver(right, async (scene) => {
      const endpoint = `unix://${join(scene.folder, 'mortal.sock')}`;
      const serving = await serveDriver(
        endpoint,
        replaced(rightDriver(scene.state), 'DeleteVolume', () => {
          ends.push(serving.stop());
          return new Promise<never>(() => {});
        }),
        0,
      );
      const ends: Promise<void>[] = [];
      const gone = checks({ ...scene, endpoint }, '--only', 'DeleteVolume/', '--restart-wait', '0');
      const { code, stdout } = await ended(gone);
      await Promise.all(ends);
      expect(stdout).to.match(/^… and 4 more blocked for the same reason, up to DeleteVolume\/no-id$/m);
      expect(stdout.match(/^DeleteVolume\/\S+ +blocked /gm)?.length).to.equal(1);
      expect(stdout.match(/^.*: DeleteVolume \{.* → .*$/gm)?.length).to.equal(1);
      expect(code).to.equal(1);
    });
  });

  it('options that can not be end with 2, and nobody at the endpoint with 3', async () => {
    await withDriver(right, async (scene) => {
      const file = join(scene.folder, 'secrets.yaml');
      writeFileSync(file, 'CreateVolume:\n  pin: 1234\n');
      const cases: [number, string[]][] = [
        [2, []],
        [2, ['--endpoint', 'relative.sock']],
        [2, ['--endpoint', scene.endpoint, '--size', 'large']],
        [2, ['--endpoint', scene.endpoint, '--only', 'no such check']],
        [2, ['--endpoint', scene.endpoint, '--secrets', file]],
        [2, ['--endpoint', scene.endpoint, '--skip', 'NoSuchCheck']],
        [2, ['--endpoint', scene.endpoint, '--restart-wait', 'long']],
        [3, ['--endpoint', join(scene.folder, 'nobody.sock')]],
      ];
      for (const [code, parameters] of cases) {
        const result = await ended(start(...parameters));
        expect(result.code, result.stderr).to.equal(code);
        expect(result.stderr).not.to.equal('');
      }
    });
  });

  it('each row is told as soon as it is known', async () => {
    let goOn: () => void = () => {};
    const isTold = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    await withDriver(
      (handlers) =>
        replaced(handlers, 'GetCapacity', async (request, next) => {
          // Answered once the row of the check before is printed: else this run never ends.
          if (request.volumeCapabilities.length > 0) await isTold;
          return next(request);
        }),
      async (scene) => {
        const child = checks(scene, '--only', 'GetCapacity');
        let told = '';
        child.stdout?.on('data', (text: Buffer) => {
          told += String(text);
          if (/^GetCapacity\/all +passed/m.test(told)) goOn();
        });
        const { code, stdout } = await ended(child);
        expect(stdout).to.include('\n3 passed');
        expect(code).to.equal(0);
      },
    );
  });

  it('a SIGINT while the driver does not even say who it is ends it at once', async () => {
    let called: () => void = () => {};
    const isCalled = new Promise<void>((resolve) => {
      called = resolve;
    });
    await withDriver(
      (handlers) =>
        replaced(handlers, 'GetPluginInfo', () => {
          called();
          return new Promise(() => {});
        }),
      async (scene) => {
        const child = checks(scene, '--timeout', '100000');
        const result = ended(child);
        await isCalled;
        child.kill('SIGINT');
        expect(await result).to.include({ code: 1 });
      },
    );
  });

  it('a SIGINT ends it with 1 after it has cleaned up', async () => {
    let called: (() => void) | undefined;
    const isCalled = new Promise<void>((resolve) => {
      called = resolve;
    });
    await withDriver(
      (handlers) =>
        replaced(handlers, 'NodePublishVolume', async (request, next) => {
          const answer = await next(request);
          if (request.volumeCapability) called?.();
          return answer;
        }),
      async (scene) => {
        const child = checks(scene);
        const result = ended(child);
        await isCalled;
        child.kill('SIGINT');
        const { code, stderr, stdout } = await result;
        expect([code, stderr]).to.deep.equal([1, 'ended by a signal: the other checks were not run\n']);
        expect(stdout).to.match(/^clean-up +passed/m);
        expect(scene.state.volumes.size).to.equal(0);
        expect(readdirSync(scene.folder).filter((name) => name.startsWith('stagecraft-check'))).to.deep.equal([]);
      },
    );
  });
});
