/** Conditions that can't come by themselves: mounts are refused at once, with the reason. With `wait`, mounts wait for them. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { AgentProcess, mainPath, type Place, removePlace } from '../scenarios/agent-process.js';
import { askAgent } from '../support/ask-agent.js';

describe('H1 what never comes by itself', () => {
  describe('the rights to mount', () => {
    let place: Place;
    let agent: AgentProcess;

    beforeEach(async () => {
      const directory = realpathSync(mkdtempSync(join(tmpdir(), 'stagecraft-')));
      // Makes the directory a private mount: the mount above may be shared where the tests run.
      execFileSync('mount', ['--bind', directory, directory]);
      execFileSync('mount', ['--make-private', directory]);
      execFileSync('chown', ['nobody', directory]);
      const dataDir = join(directory, 'data');
      place = { directory, dataDir, configPath: join(directory, 'a.yaml'), socketPath: join(dataDir, 'agent.sock') };
      const command = ['stagecraft', 'driver', '--node-id', 'n1', '--attach'];
      writeFileSync(
        place.configPath,
        stringify({ nodeId: 'n1', dataDir, tasks: [{ id: 'hostpath', type: 'monolith', command }] }),
      );
      agent = new AgentProcess(place, [mainPath, 'agent'], undefined, 65_534);
      await agent.line(/plugin hostpath \(csi-node\): healthy/);
    });
    afterEach(() => {
      execFileSync('umount', ['--lazy', place.directory]);
      removePlace(place, agent);
    });

    it('H1 an agent that is not root: prepare is refused at once with the commands, with wait it waits', async () => {
      const { socketPath } = place;
      const capabilities = [{ accessMode: 'single-node-writer', attachmentMode: 'file-system' }];
      const body = { id: 'data', plugin: 'hostpath', capacity: { requiredBytes: 1 }, capabilities };
      await askAgent(socketPath, 'POST', '/v1/volumes', { body });
      const volumes = [{ name: 'data', volume: { id: 'data' }, mode: 'write', taskPath: '/data' }];
      const prepare = (options: object): Promise<unknown> =>
        askAgent(socketPath, 'POST', '/v1/allocs/web/prepare', { body: { volumes, ...options } });
      const refused = await prepare({}).catch((error: unknown) => error);
      expect(refused).to.include({ code: 'HOST_UNFIT' });
      expect(String(refused)).to.match(/run this as root: mount --bind /);
      const late = await prepare({ wait: true, timeoutMs: 1_500 }).catch((error: unknown) => error);
      expect(late).to.include({ code: 'TIMEOUT' });
      expect(String(late)).to.match(/run this as root: mount --bind /);
    });
  });
});
