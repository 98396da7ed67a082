/** Volumes as an operator sees them: the tour of docs/first-steps.md as it stands there, tables, JSON, exit codes. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { NodeReport } from '../../src/api/node-routes.js';
import type { GroupSnapshotReport, VolumeReport } from '../../src/api/volume-routes.js';
import { askAgent } from '../support/ask-agent.js';
import { until } from '../until.js';
import { AgentProcess, mainPath, makePlace, type Place, removePlace } from './agent-process.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Said {
  status: number | null;
  stdout: string;
  stderr: string;
}

describe('volumes of an agent', () => {
  let place: Place;
  let agent: AgentProcess;

  const cli = (...args: string[]): Said =>
    spawnSync(process.execPath, [mainPath, ...args], { cwd: place.directory, encoding: 'utf8' });
  const volume = (...args: string[]): Said => cli('volume', ...args, '--config', place.configPath);

  /** As after `npm start`, in a directory of its own. */
  const begin = async (): Promise<void> => {
    place = makePlace();
    const configPath = join(place.directory, 'stagecraft.yaml');
    writeFileSync(configPath, readFileSync(join(root, 'stagecraft.yaml')));
    const dataDir = join(place.directory, '.stagecraft');
    place = { ...place, configPath, dataDir, socketPath: join(dataDir, 'agent.sock') };
    agent = new AgentProcess(place);
    await agent.line(/plugin hostpath \(csi-node\): healthy/);
    // It reports itself a moment later, and says so to nobody.
    while (((await askAgent(place.socketPath, 'GET', '/v1/nodes')) as NodeReport[]).length === 0);
  };

  describe('one agent for volumes of different names', () => {
    before(begin);
    after(() => removePlace(place, agent));

    it('A5 V2 a spec in a file, tables for people and JSON for programs', () => {
      const spec = `
namespace: team
id: scratch
plugin: hostpath
capacity: { requiredBytes: 1Mi }
capabilities: [{ accessMode: single-node-writer, attachmentMode: block-device }]
`;
      writeFileSync(join(place.directory, 'scratch.yaml'), spec);
      const made: VolumeReport = JSON.parse(volume('create', '--file', 'scratch.yaml', '--json').stdout);
      expect(made).to.deep.include({
        key: { namespace: 'team', id: 'scratch' },
        state: 'created',
        capacityBytes: 2 ** 20,
        requested: { requiredBytes: 2 ** 20 },
        name: `sc-${made.uid}`,
      });
      expect(volume('create', 'scratch', '--namespace', 'other', '--plugin', 'hostpath').status).to.equal(0);
      expect(JSON.parse(volume('status', 'scratch', '--namespace', 'team', '--json').stdout)).to.deep.equal(made);
      const { stdout } = volume('status', 'scratch', '--namespace', 'team');
      expect(stdout)
        .to.match(/^size +1Mi$/m)
        .and.to.match(/^requested +at least 1Mi$/m)
        .and.to.match(/^name at plugin +sc-/m)
        .and.to.match(/^capability +single-node-writer, block-device$/m);
      expect(volume('expand', 'scratch', '2Gi', '--namespace', 'other').stdout).to.equal(
        'volume other/scratch has 2Gi\n',
      );
      const listed: VolumeReport[] = JSON.parse(volume('list', '--namespace', 'other', '--json').stdout);
      expect(listed.map(({ key, capacityBytes }) => [key.id, capacityBytes])).to.deep.equal([['scratch', 2 ** 31]]);
      const { stdout: untried } = volume('retry', 'scratch', '--namespace', 'other');
      expect(untried).to.equal('volume other/scratch has nothing to retry: nothing failed\n');
      const unneeded = volume('acknowledge', 'scratch', '--namespace', 'other', '--json');
      expect(unneeded.status).to.equal(1);
      expect(JSON.parse(unneeded.stderr)).to.include({ code: 'NOTHING_LEFT' });
      expect(volume('list', '--state', 'failed').stdout).to.equal('there are no such volumes\n');
      expect(volume('availability', 'scratch', 'drain', '--namespace', 'team').stdout).to.equal(
        'volume team/scratch: its availability is drain\n',
      );
      const refused = volume('publish', 'scratch', 'quickstart', '--namespace', 'team', '--json');
      expect({ status: refused.status, ...JSON.parse(refused.stderr) }).to.include({
        status: 1,
        code: 'VOLUME_UNAVAILABLE',
      });
    });

    it('A5 V1 snapshots of one volume and of two: made, made into a volume, looked at, deleted', () => {
      const one = (...args: string[]): Said => cli('snapshot', ...args, '--config', place.configPath);
      const group = (...args: string[]): Said => cli('group-snapshot', ...args, '--config', place.configPath);
      for (const id of ['data', 'wal'])
        expect(volume('create', id, '--plugin', 'hostpath', '--size', '1Mi').status).to.equal(0);
      expect(one('create', 'monday', 'data').stdout).to.match(
        /^snapshot default\/monday is ready: the plugin knows it as \S+\n$/,
      );
      expect(volume('create', 'copy', '--plugin', 'hostpath', '--from-snapshot', 'monday').status).to.equal(0);
      const typo = volume('create', 'other', '--plugin', 'hostpath', '--from-snapshot', 'munday');
      expect(typo, '34.22').to.include({ status: 1 });
      expect(typo.stderr, '34.22').to.match(
        /^there is no snapshot default\/munday: see 'stagecraft snapshot list'; .*--from-snapshot-id\n$/,
      );
      expect(volume('status', 'other').status, '34.22: it holds no name').to.equal(1);
      const { csiId = '' }: { csiId?: string } = JSON.parse(one('status', 'monday', '--json').stdout);
      expect(volume('create', 'other', '--plugin', 'hostpath', '--from-snapshot-id', csiId).status).to.equal(0);
      const [head, row] = one('list', '--state', 'ready').stdout.split('\n');
      expect(head).to.match(/^NAMESPACE +ID +PLUGIN +STATE +OF +TAKEN +TROUBLE$/);
      expect(row).to.match(/^default +monday +hostpath +ready +data +\d{4}-\d\d-\d\dT\S+Z$/);
      expect(one('status', 'monday').stdout).to.match(/^size +1Mi$/m);
      writeFileSync(join(place.directory, 'tuesday.yaml'), 'id: tuesday\nvolumes: [{ id: wal }, { id: data }]\n');
      const made: GroupSnapshotReport = JSON.parse(group('create', '--file', 'tuesday.yaml', '--json').stdout);
      expect(JSON.parse(group('create', 'tuesday', 'data', 'wal', '--json').stdout)).to.deep.equal(made);
      const { stdout } = group('status', 'tuesday');
      expect(stdout)
        .to.match(/^of +data, wal$/m)
        .and.to.match(/^default\/wal +\S+ +1Mi$/m);
      expect(stdout).to.include(made.snapshots[0]?.csiId);
      for (const misused of [one('create', 'x'), group('create', 'x'), one('create', 'x', 'data', '--parameter', 'x')])
        expect(misused.status, misused.stderr).to.equal(2);
      expect(group('delete', 'tuesday').stdout).to.equal('group snapshot default/tuesday is deleted\n');
      expect(one('delete', 'monday').stdout).to.equal('snapshot default/monday is deleted\n');
      expect(one('list').stdout).to.equal('there are no snapshots\n');
      const stderr = 'there is no group snapshot default/tuesday: see stagecraft group-snapshot list\n';
      expect(group('status', 'tuesday')).to.include({ status: 1, stderr });
    });

    it('A5 V2 reports faults of a spec, of the command line, and an unknown volume or node', () => {
      writeFileSync(join(place.directory, 'bad.yaml'), 'id: x\nplugin: hostpath\nsize: 5\n');
      const bad = volume('create', '--file', 'bad.yaml');
      expect(bad.status).to.equal(1);
      expect(bad.stderr).to.include('bad.yaml:1: capabilities: is missing');
      expect(bad.stderr).to.include('bad.yaml:3: size: unknown key; allowed here: namespace, id, plugin, capacity,');
      expect(cli('volume', '--config', 'x', 'list').stderr).to.include('(options come after the command');
      for (const misuse of [
        ['create', 'x'],
        ['create', '--plugin', 'hostpath'],
        ['create', 'x', '--plugin', 'hostpath', '--size', 'big'],
        ['create', 'x', '--plugin', 'hostpath', '--parameter', 'x'],
        ['create', 'x', '--plugin', 'hostpath', '--access-mode', 'anybody'],
        ['create', '--file', 'none.yaml'],
      ])
        expect(volume(...misuse).status, misuse.join(' ')).to.equal(2);
      const missing = volume('status', 'x');
      expect(missing).to.include({ status: 1, stderr: 'there is no volume default/x: see stagecraft volume list\n' });
      expect(volume('create', 'x', '--plugin', 'hostpath').status).to.equal(0);
      const pluginless = volume('create', 'y', '--plugin', 'none');
      const advice = 'see stagecraft plugin list, and task list for plugins that did not start';
      expect(pluginless).to.include({ status: 1, stderr: `no plugin is registered as 'none': ${advice}\n` });
      const nowhere = volume('publish', 'x', 'mars');
      expect(nowhere).to.include({ status: 1, stderr: 'there is no node mars: see stagecraft node list\n' });
    });
  });

  describe('one agent for each test', () => {
    beforeEach(begin);
    afterEach(() => removePlace(place, agent));

    it('A5 V4 the tour of first-steps.md: each command says what stands below it', async () => {
      const [, tour = ''] = /```console\n(.*?)```/s.exec(readFileSync(join(root, 'docs/first-steps.md'), 'utf8')) ?? [];
      const steps = tour.split(/^\$ npx stagecraft /m).slice(1);
      expect(steps).to.have.length(6);
      for (const step of steps) {
        const [command = '', ...said] = step.trimEnd().split('\n');
        const { stdout, stderr } = cli(...command.split(' '));
        const shown = `${stdout}${stderr}`.trimEnd().replace(/vol-[0-9a-f-]{36}/, 'vol-…');
        expect(`${command}\n${shown}`).to.equal([command, ...said].join('\n'));
      }
      expect(volume('status', 'data').status).to.equal(1);
      await agent.line(/^\d\d:\d\d:\d\d volume default\/data: created, its plugin knows it as vol-/);
      await agent.line(/ volume default\/data: published to node quickstart$/);
      await agent.line(/ volume default\/data: deleted$/);
    });

    it('A5 C6 a claim is released by hand: the volume goes with its last one', async () => {
      expect(volume('create', 'data', '--plugin', 'hostpath').status).to.equal(0);
      expect(volume('publish', 'data', 'quickstart').status).to.equal(0);
      const modes = { accessMode: 'single-node-writer', attachmentMode: 'file-system' };
      const body = { allocId: 'web', nodeId: 'quickstart', mode: 'write', ...modes };
      await askAgent(place.socketPath, 'POST', '/v1/volumes/default/data/claim', { body });
      expect(volume('unpublish', 'data', 'quickstart', '--json').stderr).to.include('VOLUME_IN_USE');
      expect(volume('release', 'data', 'web').stdout).to.equal('volume default/data is no longer claimed by web\n');
      const { claims }: VolumeReport = JSON.parse(volume('status', 'data', '--json').stdout);
      expect(claims.filter(({ state }) => state === 'taken')).to.deep.equal([]);
      expect(volume('release', 'nobody', 'web', '--json').stderr).to.include('VOLUME_NOT_FOUND');
    });

    it('A5 N1 N3 the agent has reported itself as a node; a fenced node keeps the reason until it reports', () => {
      const node = (...args: string[]): Said => cli('node', ...args, '--config', place.configPath);
      expect(node('list').stdout.split('\n')[1]).to.match(/^quickstart +ready +hostpath +-$/);
      expect(node('status', 'quickstart').stdout).to.match(
        /^hostpath +quickstart +no limit +topology\.hostpath\.csi\.stagecraft\/node=quickstart$/m,
      );
      expect(node('fence', 'quickstart').status).to.equal(2);
      expect(node('fence', 'quickstart', '--reason', 'no power').status).to.equal(0);
      expect(JSON.parse(node('status', 'quickstart', '--json').stdout)).to.deep.include({
        id: 'quickstart',
        state: 'down',
      });
      expect(node('list').stdout).to.include('fenced: no power');
      expect(node('remove', 'quickstart').status).to.equal(0);
      expect(node('status', 'quickstart')).to.include({
        status: 1,
        stderr: 'there is no node quickstart: see stagecraft node list\n',
      });
    });

    it('A1 V14 V19 the next agent says what it goes on with, and why that does not get on', async () => {
      const locked = ['create', 'locked', '--plugin', 'hostpath', '--secret', 'password=file:disk'];
      const why = "no secrets provider is configured for password: set 'secrets' in the configuration of the agent";
      const refused = volume(...locked);
      expect(refused).to.include({ status: 1 });
      expect(refused.stderr).to.include(why).and.to.include('Nothing was stored: provide them, or use --wait');
      expect(volume('status', 'locked').stderr).to.include('there is no volume default/locked');
      const { status, stderr } = volume(...locked, '--wait', '--timeout', '1');
      expect({ status, stderr }).to.deep.include({ status: 4 });
      expect(stderr).to.include(why);
      await agent.kill('SIGTERM');
      agent = new AgentProcess(place);
      // It is tried again at once; until the plugin was seen, that is what it waits for.
      const waits = ["plugin 'hostpath' can't be called", why].join('|');
      expect(await agent.line(/^ {2}volume default\/locked: pending-create: /)).to.match(new RegExp(waits));
      await until(() => volume('status', 'locked').stdout.includes(why));
      expect(volume('create', 'typed', '--plugin', 'hostpath', '--secret', 'password=hunter2').stderr)
        .to.include('secrets.password: its reference must be')
        .and.not.include('hunter2');
    });
  });
});
