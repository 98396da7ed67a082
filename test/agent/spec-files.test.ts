/** Spec files on the command line: several documents, standard input, faults with their lines. */
import { expect } from 'chai';
import { StubAgent } from './stub-agent.js';

const spec = (id: string): string => `id: ${id}\nplugin: disk\ncapacity: { requiredBytes: 1Mi }\n`;
const bodyOf = (id: string): object => ({ id, plugin: 'disk', capacity: { requiredBytes: 2 ** 20 } });
const made = (body: unknown): object => {
  const { id } = body as { id: string };
  return { key: { namespace: 'default', id }, csiId: `vol-${id}` };
};
const sentence = (id: string): string => `volume default/${id} is created: the plugin knows it as vol-${id}\n`;

describe('A5 V2 a file of specs', () => {
  let agent: StubAgent;

  beforeEach(async () => {
    agent = await new StubAgent().start();
    agent.answers['POST /v1/volumes'] = made;
  });
  afterEach(() => agent.remove());

  const bodies = (): unknown[] => agent.posted.map(({ body }) => body);

  it('A5 V2 several documents are created in order; empty ones are skipped', async () => {
    const file = agent.write('specs.yaml', `# all\n---\n${spec('a')}---\n${spec('b')}---\n`);
    expect(await agent.run(['volume', 'create', '--file', file])).to.deep.equal({
      code: 0,
      stdout: `${sentence('a')}${sentence('b')}`,
      stderr: '',
    });
    expect(bodies()).to.deep.equal([bodyOf('a'), bodyOf('b')]);
    const { stdout } = await agent.run(['volume', 'create', '--file', file, '--json']);
    expect(JSON.parse(stdout)).to.deep.equal([made({ id: 'a' }), made({ id: 'b' })]);
  });

  it('A5 V2 an empty file is refused, and no request is sent', async () => {
    const file = agent.write('specs.yaml', '# nothing yet\n');
    const { code, stderr } = await agent.run(['volume', 'create', '--file', file]);
    expect([code, bodies()]).to.deep.equal([2, []]);
    expect(stderr).to.include(`can't read the spec in ${file}: it is empty`);
  });

  it('A5 V2 more documents than Node allows listeners: no warning', async () => {
    const ids = [...'abcdefghijklm'];
    const file = agent.write('specs.yaml', ids.map(spec).join('---\n'));
    expect(await agent.run(['volume', 'create', '--file', file])).to.deep.equal({
      code: 0,
      stdout: ids.map(sentence).join(''),
      stderr: '',
    });
  });

  it('A5 V2 one of several is refused: prints its line, and the names after it', async () => {
    const error = { code: 'INVALID_ARGUMENT', message: 'the spec is wrong:\n  plugin: is missing' };
    agent.answers['POST /v1/volumes'] = (body) => ((body as { id: string }).id === 'b' ? error : made(body));
    const file = agent.write('specs.yaml', ['a', 'b', 'c', 'd'].map(spec).join('---\n'));
    expect(await agent.run(['volume', 'create', '--file', file])).to.deep.equal({
      code: 1,
      stdout: sentence('a'),
      stderr: `the spec is wrong:\n  ${file}:6: plugin: is missing\nnot requested after this error: volume default/c, volume default/d\n`,
    });
    expect(bodies()).to.deep.equal([bodyOf('a'), bodyOf('b')]);
    const { stdout } = await agent.run(['volume', 'create', '--file', file, '--json']);
    expect(JSON.parse(stdout)).to.deep.equal([made({ id: 'a' })]);
  });

  it('A5 V2 a file with broken YAML further down: no request is sent', async () => {
    const file = agent.write('specs.yaml', `${spec('a')}---\nid: "b\n`);
    const { code, stderr } = await agent.run(['volume', 'create', '--file', file]);
    expect([code, agent.posted]).to.deep.equal([2, []]);
    expect(stderr).to.match(/specs\.yaml: line 6: /);
  });

  it('A5 V2 --file - reads standard input, and errors name it', async () => {
    expect(await agent.run(['volume', 'create', '--file', '-'], spec('a'))).to.include({ code: 0 });
    expect(bodies()).to.deep.equal([bodyOf('a')]);
    const wrong = await agent.run(['volume', 'create', '--file', '-'], 'id: "b\n');
    expect(wrong.stderr).to.match(/^error: can't read the spec in standard input: line 2: /);
  });

  it('A5 H1 alloc prepare joins the volumes of all documents; faults keep their lines', async () => {
    agent.answers['POST /v1/allocs/web/prepare'] = [];
    const list = '- { name: a }\n- { name: b }\n---\nname: c\ntaskPath: rel\n';
    expect(await agent.run(['alloc', 'prepare', 'web', '--file', '-'], list)).to.include({ code: 0 });
    expect(bodies()).to.deep.equal([{ volumes: [{ name: 'a' }, { name: 'b' }, { name: 'c', taskPath: 'rel' }] }]);
    const message = 'wrong:\n  [1].name: is taken\n  [2].taskPath: must be absolute';
    agent.answers['POST /v1/allocs/web/prepare'] = { code: 'INVALID_ARGUMENT', message };
    expect((await agent.run(['alloc', 'prepare', 'web', '--file', '-'], list)).stderr).to.equal(
      'wrong:\n  standard input:2: [1].name: is taken\n  standard input:5: [2].taskPath: must be absolute\n',
    );
  });

  it('A5 a request that timed out ends with 4', async () => {
    agent.answers['POST /v1/volumes?timeoutMs=1000'] = { code: 'TIMEOUT', message: 'not created yet: it goes on' };
    expect(await agent.run(['volume', 'create', 'a', '--plugin', 'disk', '--timeout', '1'])).to.deep.equal({
      code: 4,
      stdout: '',
      stderr: 'not created yet: it goes on\n',
    });
  });
});
