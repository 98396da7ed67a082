/** The history of an actor over the API, and through the command line in a process of its own. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import { serveApi } from '../../src/agent/api.js';
import type { HistoryPage } from '../../src/api/actor-routes.js';
import { answerOf, mainPath } from '../scenarios/agent-process.js';
import { askAgent } from '../support/ask-agent.js';
import { spec, VolumeHouse } from '../volumes/volume-house.js';

describe('history over the API and the command line', () => {
  let house: VolumeHouse;
  let socketPath: string;
  let closeApi: (() => Promise<void>) | undefined;

  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
    socketPath = join(house.directory, 'agent.sock');
    closeApi = await serveApi({
      runtime: house.runtime,
      socketPath,
      version: '0',
      storeKind: 'lmdb',
      drain: async () => {},
    });
    let failures = 2;
    house.plugin.script = ({ rpc }) => {
      failures -= rpc === 'ControllerPublishVolume' ? 1 : 0;
      return rpc === 'ControllerPublishVolume' && failures >= 0 ? { code: 'INTERNAL', text: 'no luck' } : undefined;
    };
    const creating = house.runtime.volumes.create(spec('a/b c'));
    await house.rest();
    await creating;
    const publishing = house.runtime.volumes.publish({ id: 'a/b c' }, 'a');
    await house.clock.advance(10_000);
    await publishing;
  });

  afterEach(async () => {
    await closeApi?.();
    await house.dispose();
  });

  const address = 'volume/default/a%2Fb%20c';
  const pageOf = (query = ''): Promise<HistoryPage> =>
    askAgent(socketPath, 'GET', `/v1/history/${encodeURIComponent(address)}${query}`) as Promise<HistoryPage>;

  const cli = (...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> =>
    new Promise((resolve) => {
      const child = execFile(process.execPath, [mainPath, ...args, '--socket', socketPath], (_, stdout, stderr) =>
        resolve({ code: child.exitCode, stdout, stderr }),
      );
    });

  it('J1 all lines; in pages the same lines, with the attempts counted from the beginning', async () => {
    const { lines, before } = await pageOf();
    expect(before).to.equal(undefined);
    expect(lines.flatMap(({ attempt }) => attempt ?? [])).to.deep.equal([1, 2, 3]);
    const paged: HistoryPage['lines'] = [];
    for (let next: number | undefined = lines.length + 1; next !== undefined; ) {
      const page: HistoryPage = await pageOf(`?limit=3&before=${next}`);
      paged.unshift(...page.lines);
      next = page.before;
    }
    expect(paged).to.deep.equal(lines);
  });

  it('J1 stagecraft history: failed calls with their answers, and when the next attempt is due', async () => {
    const { code, stdout } = await cli('history', 'volume', 'a/b c');
    expect(code).to.equal(0);
    const failed = stdout.split('\n').filter((line) => line.includes('ControllerPublishVolume: INTERNAL'));
    expect(failed).to.have.length(2);
    expect(failed[0]).to.match(/attempt 1; .*no luck; .*next attempt in \d+ ms/);
    expect(stdout).to.contain('ControllerPublishVolume: OK').and.contain('attempt 3');
    const byAddress = await cli('history', address, '--json');
    expect(JSON.parse(byAddress.stdout)).to.deep.equal(await pageOf());
  });

  it('J1, 34.32 steps of an earlier version are said to be kept, forgotten ones to be forgotten', async () => {
    const read = house.store.readJournal.bind(house.store);
    house.store.readJournal = async (...asked) => {
      const rows = await read(...asked);
      return rows.map((row) => ({ ...row, text: row.text.replace(/"version":"\d+"/, '"version":"1"') }));
    };
    const { lines } = await pageOf();
    expect(lines).to.deep.equal([]);
    const { code, stdout } = await cli('history', 'volume', 'a/b c');
    expect(code).to.equal(0);
    expect(stdout).to.match(/: steps 1 to \d+ are kept, but this version can't replay them/);
    house.store.readJournal = read;
    expect(await pageOf()).not.to.have.property('older');
    await house.store.trimJournal(address, 3);
    expect((await pageOf()).older).to.match(/^steps 1 to 2 are not kept any more .*; steps 3 to \d+ are kept, but/);
  });

  it('J1 an actor that never was: ACTOR_NOT_FOUND; a limit that is no number: INVALID_ARGUMENT', async () => {
    const { code, stderr } = await cli('history', 'volume', 'other');
    expect([code, stderr]).to.deep.equal([1, 'there is no actor volume/default/other, nor a journal of one\n']);
    expect(await answerOf(socketPath, 'GET', `/v1/history/${encodeURIComponent(address)}?limit=none`)).to.include({
      status: 400,
      code: 'INVALID_ARGUMENT',
    });
  });
});
