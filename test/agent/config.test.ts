/** The configuration file (A3): defaults, values, faults with file and line. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { secretsOf } from '../../src/agent/agent.js';
import { loadConfig, parseConfig } from '../../src/agent/config.js';
import { clusterOf, storeOf } from '../../src/agent/store.js';
import { StagecraftError } from '../../src/errors.js';

function faultsOf(text: string): string[] {
  try {
    parseConfig(text, 'agent.yaml');
  } catch (error) {
    if (error instanceof StagecraftError && error.code === 'CONFIG_INVALID') return error.faults ?? [];
    throw error;
  }
  return [];
}

describe('A3 configuration', () => {
  it('A3 an empty file gives all defaults', () => {
    const config = parseConfig('', 'agent.yaml');
    expect(config.nodeId).to.not.equal('');
    expect(config.fingerprint).to.deep.equal({ intervalMs: 30_000, timeoutMs: 30_000 });
    expect(config.tasks).to.deep.equal([]);
  });

  it('A3 V19 settings of volumes are taken, and missing ones get their defaults', () => {
    const { calls, retry, fencing, reconcile, secrets, volumeNamePrefix } = parseConfig('', 'agent.yaml');
    expect({ calls, retry, fencing, reconcile, secrets, volumeNamePrefix }).to.deep.equal({
      calls: {},
      retry: { initialMs: 100, maxMs: 300_000 },
      fencing: {},
      reconcile: {},
      secrets: undefined,
      volumeNamePrefix: 'sc',
    });
    const text = `
calls: { timeoutMs: 1000, maxInFlightPerPlugin: 1 }
retry: { initialMs: 5, maxMs: 50 }
fencing: { afterMs: 60000 }
reconcile: { intervalMs: 1000 }
secrets: { environment: DISK_ }
volumeNamePrefix: west-1`;
    expect(parseConfig(text, 'agent.yaml')).to.deep.include({
      calls: { timeoutMs: 1_000, maxInFlightPerPlugin: 1 },
      retry: { initialMs: 5, maxMs: 50 },
      fencing: { afterMs: 60_000 },
      reconcile: { intervalMs: 1_000 },
      secrets: { environment: 'DISK_' },
      volumeNamePrefix: 'west-1',
    });
  });

  it('A3 M6 M15 settings of mounts are taken, and missing ones get their defaults', () => {
    expect(parseConfig('', 'agent.yaml')).to.deep.include({ onPluginLoss: 'remount', stats: {} });
    const text = `
calls: { nodeTimeoutMs: 90000 }
onPluginLoss: report
stats: { intervalMs: 5000 }`;
    expect(parseConfig(text, 'agent.yaml')).to.deep.include({
      calls: { nodeTimeoutMs: 90_000 },
      onPluginLoss: 'report',
      stats: { intervalMs: 5_000 },
    });
  });

  for (const [text, fault] of [
    ['onPluginLoss: ask', 'agent.yaml:1: onPluginLoss: must be'],
    ['stats: { intervalMs: 0 }', 'stats.intervalMs: must be above 0'],
    ['calls: { nodeTimeoutMs: -1 }', 'calls.nodeTimeoutMs: must be above 0'],
    ['secrets: {}', 'agent.yaml:1: secrets: must have a directory, environment, or both'],
    ['secrets: { environment: 1 }', 'secrets.environment: must be true, false, or the prefix of the names'],
    ['secrets: { directory: "" }', 'secrets.directory'],
    ['retry: { initialMs: 9, maxMs: 3 }', 'retry.initialMs: must not be more than maxMs'],
    ['fencing: { afterMs: 0 }', 'fencing.afterMs: must be above 0'],
    ['calls: { maxInFlightPerPlugin: 0.5 }', 'calls.maxInFlightPerPlugin: must be a whole number'],
    ['volumeNamePrefix: a/b', 'volumeNamePrefix: must be 1 to 64 letters and digits'],
  ] as const) {
    it(`A3 ${text} is refused, and the message names the fault`, () => {
      expect(faultsOf(text).join('\n')).to.include(fault);
    });
  }

  it('A3 V19 the secrets directory is relative to the file; only configured sources are used', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'stagecraft-config-'));
    try {
      writeFileSync(join(directory, 'password'), 'x\n');
      const file = join(directory, 'agent.yaml');
      const resolved = async (secrets: string): Promise<unknown> => {
        writeFileSync(file, `secrets: ${secrets}`);
        const provider = secretsOf(loadConfig(file)).secrets;
        const looks = ['file:password', 'env:PATH', 'env:HOME'].map((ref) => provider?.resolve({ ref }));
        return (await Promise.allSettled(looks)).map(({ status }) => status === 'fulfilled');
      };
      expect(await resolved('{ directory: . }')).to.deep.equal([true, false, false]);
      expect(await resolved('{ directory: ., environment: PA }')).to.deep.equal([true, true, false]);
      expect(await resolved('{ environment: true }')).to.deep.equal([false, true, true]);
      expect(secretsOf(parseConfig('', 'agent.yaml'))).to.deep.equal({});
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('A3 a Redis is named by its url, its sentinels or some nodes of its cluster', () => {
    const storeOf = (redis: string): unknown => parseConfig(`store: { redis: ${redis} }`, 'agent.yaml').store;
    expect(
      storeOf('{ url: "redis://db:6379/1", prefix: "a:", durability: { replicas: 1, timeoutMs: 500 } }'),
    ).to.deep.equal({
      redis: { url: 'redis://db:6379/1', prefix: 'a:', durability: { replicas: 1, timeoutMs: 500 } },
    });
    expect(storeOf('{ sentinels: ["s1:26379"], master: main }')).to.deep.equal({
      redis: { sentinels: [{ host: 's1', port: 26_379 }], master: 'main' },
    });
    expect(storeOf('{ cluster: ["[::1]:7000"], protocol: 3 }')).to.deep.equal({
      redis: { cluster: [{ host: '::1', port: 7_000 }], protocol: 3 },
    });
  });

  for (const [redis, fault] of [
    ['{}', 'exactly one of url, sentinels and cluster'],
    ['{ url: "redis://a", cluster: ["b:1"] }', 'exactly one of'],
    ['{ url: "http://a" }', 'agent.yaml:1: store.redis.url: must be redis://'],
    ['{ url: "redis://a:99999" }', 'store.redis.url: must be redis://'],
    ['{ url: "redis://a/one" }', 'store.redis.url: must be redis://'],
    ['{ url: "redis://a", prefix: "{b}" }', 'store.redis.prefix: must be 1 or more characters, without braces'],
    ['{ sentinels: ["a:1"] }', 'sentinels and master'],
    ['{ cluster: ["a"] }', 'host:port'],
    ['{ url: "redis://a", password: x }', 'password'],
    ['{ url: "redis://a", durability: { replicas: 0, timeoutMs: 1 } }', 'replicas'],
  ] as const) {
    it(`A3 a store of ${redis} is refused, and the message names the fault`, () => {
      expect(faultsOf(`store: { redis: ${redis} }`).join('\n')).to.include(fault);
    });
  }

  describe('the files and addresses of a Redis', () => {
    let directory: string;

    beforeEach(() => {
      directory = mkdtempSync(join(tmpdir(), 'stagecraft-config-'));
    });
    afterEach(() => rmSync(directory, { recursive: true }));

    /** Makes a store with this text below `store.redis`, and returns the faults. */
    async function refusalOf(redis: string): Promise<string> {
      const file = join(directory, 'agent.yaml');
      writeFileSync(file, `nodeId: n1\nstore:\n  redis:\n    ${redis.replaceAll('\n', '\n    ')}\n`);
      const config = loadConfig(file);
      try {
        await storeOf(config);
      } catch (error) {
        if (error instanceof StagecraftError && error.code === 'CONFIG_INVALID')
          return (error.faults ?? []).map((fault) => fault.replaceAll(directory, 'DIR')).join('\n');
        throw error;
      }
      throw new Error('it was taken');
    }

    it('A3 missing and empty files are reported with their lines and advice', async () => {
      writeFileSync(join(directory, 'password'), '\n');
      expect((await refusalOf('url: rediss://a\ncaFile: ca.pem\npasswordFile: password')).split('\n')).to.deep.equal([
        "DIR/agent.yaml:5: store.redis.caFile: can't be read (ENOENT: no such file or directory, open 'DIR/ca.pem'): correct the path, or let the agent read it",
        'DIR/agent.yaml:6: store.redis.passwordFile: DIR/password is empty: write the password into it, or remove passwordFile',
      ]);
    });

    it('A3 D11 a key for messages is read without white space; a short or missing one is refused with its line', () => {
      const text = 'store: { redis: { url: redis://a } }\ncluster:\n  keyFile: key\n';
      const file = join(directory, 'agent.yaml');
      const keyOf = (yaml: string): unknown => {
        writeFileSync(file, yaml);
        try {
          return clusterOf(loadConfig(file));
        } catch (error) {
          if (error instanceof StagecraftError && error.code === 'CONFIG_INVALID')
            return (error.faults ?? []).map((fault) => fault.replaceAll(directory, 'DIR')).join('\n');
          throw error;
        }
      };
      expect(keyOf(text)).to.match(/^DIR\/agent\.yaml:3: cluster\.keyFile: can't be read \(ENOENT.*correct the path/);
      writeFileSync(join(directory, 'key'), ` ${'k'.repeat(31)}\n`);
      expect(keyOf(text)).to.equal(
        'DIR/agent.yaml:3: cluster.keyFile: DIR/key has 31 bytes, but a key has at least 32: write one into it with: openssl rand -hex 32',
      );
      writeFileSync(join(directory, 'key'), ` ${'k'.repeat(32)}\n`);
      expect(keyOf(text)).to.deep.equal({ cluster: { key: 'k'.repeat(32) } });
      expect(keyOf('nodeId: a\n')).to.deep.equal({});
      expect(keyOf('cluster: { keyFile: key }\n')).to.equal(
        'DIR/agent.yaml:1: cluster.keyFile: has no use: only agents on one Redis send each other messages. Add store.redis, or remove keyFile',
      );
    });

    it('A3 a caFile without a certificate is refused, and the message says what it must be', async () => {
      writeFileSync(join(directory, 'ca.pem'), 'no certificate\n');
      expect(await refusalOf('url: rediss://a\ncaFile: ca.pem')).to.match(
        /^DIR\/agent\.yaml:5: store\.redis\.caFile: DIR\/ca\.pem holds no certificate .*: name the PEM file of/,
      );
    });

    it('A3 an address that only the store refuses is reported with file and line, too', async () => {
      expect(await refusalOf('url: redis://:100%@a')).to.match(
        /^DIR\/agent\.yaml:3: store\.redis: .*url: must be redis:/,
      );
    });
  });

  it('A3 T1 a task gets defaults for missing keys', () => {
    const text = 'tasks:\n  - { id: hostpath, type: node, command: [stagecraft, driver] }\n';
    expect(parseConfig(text, 'agent.yaml').tasks).to.deep.equal([
      {
        id: 'hostpath',
        type: 'node',
        command: ['stagecraft', 'driver'],
        env: {},
        healthTimeoutMs: 30_000,
        restart: { maxRestarts: 5, windowMs: 60_000, backoff: { initialMs: 100, maxMs: 300_000 } },
      },
    ]);
  });

  it('A3 an unknown key is refused with file, line and the allowed keys', () => {
    expect(faultsOf('nodeId: n1\nstroe: lmdb\n')).to.deep.equal([
      'agent.yaml:2: stroe: unknown key; allowed here: nodeId, dataDir, store, cluster, dataDirAccess, retention, logs, fingerprint, calls, retry, fencing, reconcile, stats, onPluginLoss, volumeNamePrefix, secrets, tasks, inspector, log',
    ]);
  });

  it('A3, 34.10 access to the data directory is for the owner, a group, or everyone; anything else is refused', () => {
    const accesses = ['owner', 'everyone', '{ group: staff }', '{ group: 50 }'];
    for (const access of accesses) expect(() => parseConfig(`dataDirAccess: ${access}\n`, 'agent.yaml')).not.to.throw();
    for (const access of ['0711', 'group', '{ group: "a:b" }', '{ group: -1 }', '{ groups: staff }'])
      expect(faultsOf(`dataDirAccess: ${access}\n`), access).to.have.length(1);
    expect(faultsOf('dataDirAccess: all\n')[0]).to.contain('must be owner, everyone, or { group: NAME }');
  });

  it('A3 an unknown key of a task is refused at its own line', () => {
    const text = 'tasks:\n  - id: a\n    type: node\n    command: [x]\n    restart:\n      maxRestart: 3\n';
    expect(faultsOf(text)).to.deep.equal([
      'agent.yaml:6: tasks[0].restart.maxRestart: unknown key; allowed here: maxRestarts, windowMs, backoff, keep',
    ]);
  });

  it('A3 an unknown key that differs in case from a known one: the message names that one', () => {
    expect(faultsOf('nodeID: n1\n')).to.deep.equal(['agent.yaml:1: nodeID: unknown key, did you mean nodeId?']);
  });

  it('A3 faults of several kinds are reported in the order of their lines', () => {
    const faults = faultsOf('nodeID: n1\nlog: { level: loud }\nnodeId: 5\nstroe: lmdb\n');
    expect(faults.map((fault) => fault.split(': ')[0])).to.deep.equal([1, 2, 3, 4].map((line) => `agent.yaml:${line}`));
  });

  it('A3 text that is no YAML: the message shows the line', () => {
    expect(faultsOf('nodeId: x\n\tdataDir: y\n')).to.deep.equal([
      'agent.yaml:2: Tabs are not allowed as indentation: "\\tdataDir: y"',
    ]);
  });

  it('A3 all faults are reported at once, each with its path', () => {
    const text = 'nodeId: ""\nfingerprint: { intervalMs: -1 }\nlog: { level: loud }\n';
    const faults = faultsOf(text);
    expect(faults).to.have.length(3);
    expect(faults[0]).to.match(/^agent\.yaml:1: nodeId: must not be empty$/);
    expect(faults[1]).to.match(/^agent\.yaml:2: fingerprint\.intervalMs: must be above 0$/);
    expect(faults[2]).to.match(/^agent\.yaml:3: log\.level: must be "debug" or "info" or "warn"/);
  });

  it('A3 T1 wrong task values are refused by name', () => {
    const bad = (task: string): string[] => faultsOf(`tasks:\n  - ${task}\n`);
    expect(bad('{ type: node, command: [x] }')[0]).to.include('tasks[0].id');
    expect(bad('{ id: Upper, type: node, command: [x] }')[0]).to.include('tasks[0].id: must be 1 to 32 of a-z');
    expect(bad('{ id: a, type: both, command: [x] }')[0]).to.match(
      /tasks\[0\]\.type: must be "node" or "controller" or "monolith"$/,
    );
    expect(bad('{ id: a, type: node, command: [] }')[0]).to.include('tasks[0].command');
    expect(bad('{ id: a, type: node }')[0]).to.include('tasks[0].command');
    expect(bad('{ id: a, type: node, command: [x], env: { A: 1 } }')[0]).to.include('tasks[0].env.A');
    expect(bad('{ id: a, type: node, command: [x], healthTimeoutMs: 0 }')[0]).to.include('tasks[0].healthTimeoutMs');
  });

  it('A3 a value of a wrong type is refused, and the message says the right type', () => {
    const bad = (text: string): string => faultsOf(text).join('\n');
    const task = (rest: string): string => bad(`tasks: [{ id: a, type: node, ${rest} }]`);
    expect(task('command: x --y')).to.equal('agent.yaml:1: tasks[0].command: must be a list, e.g. [x, --y]');
    expect(task('command: [x], env: { A: 1 }')).to.include('tasks[0].env.A: must be a text; a number needs quotes');
    expect(task('command: [x, 1]')).to.include('tasks[0].command[1]: must be a text');
    expect(task('command: [x], env: [A]')).to.include('tasks[0].env: must be a map of names and texts');
    expect(task('command: [x], restart: 3')).to.include('tasks[0].restart: must be a map of keys and values');
    expect(bad('logs: { maxBytes: 10M }')).to.equal(
      'agent.yaml:1: logs.maxBytes: must be a number of bytes, e.g. 10485760',
    );
    expect(bad('logs: { maxBytes: 1.5 }')).to.include('logs.maxBytes: must be a whole number of bytes');
    expect(bad('fingerprint: { intervalMs: 30s }')).to.include('must be a number of milliseconds');
    expect(bad('retention: { journalEntries: many }')).to.include('must be a whole number');
    expect(bad('tasks: [{ type: node, command: [x] }]')).to.include('tasks[0].id: is missing');
    expect(bad('store: { redis: redis://db }')).to.match(/store\.redis: must be a map .*e\.g\. \{ url: redis:/);
    expect(bad('inspector: { listen: 0.0.0.0:4780 }')).to.include('an address of this host alone, e.g. 127.0.0.1:4780');
    expect(bad('[]')).to.include('agent.yaml:1: the file: must be a map of keys and values');
  });

  it('A3 two tasks with one id are refused at the second', () => {
    const text = 'tasks:\n  - { id: a, type: node, command: [x] }\n  - { id: a, type: node, command: [y] }\n';
    expect(faultsOf(text)).to.deep.equal(["agent.yaml:3: tasks[1].id: another task has the id 'a' already"]);
  });

  it('A3, 34.21 two tasks may share a plugin, but no side of it', () => {
    const tasks = (...types: string[]): string =>
      `tasks:\n${types.map((type, index) => `  - { id: t${index}, plugin: disk, type: ${type}, command: [x] }\n`).join('')}`;
    expect(parseConfig(tasks('controller', 'node'), 'agent.yaml').tasks).to.have.length(2);
    const taken = "agent.yaml:3: tasks[1].plugin: task 't0' runs the csi-node plugin 'disk' already";
    expect(faultsOf(tasks('node', 'monolith'))).to.deep.equal([taken]);
    const unnamed =
      'tasks:\n  - { id: disk, type: node, command: [x] }\n  - { id: a, plugin: disk, type: node, command: [x] }\n';
    expect(faultsOf(unnamed)).to.deep.equal([taken.replace('t0', 'disk')]);
  });

  it('A3 a value that no store or path can hold is refused', () => {
    const unwritable = 'nodeId: must have no control characters or broken surrogate pairs';
    expect(faultsOf('nodeId: "a\\nb"')).to.deep.equal([`agent.yaml:1: ${unwritable}`]);
    expect(faultsOf('nodeId: "a\\uD800"')).to.deep.equal([`agent.yaml:1: ${unwritable}`]);
    expect(faultsOf('nodeId: n1\ndataDir: "/a\\0b"')).to.deep.equal([
      'agent.yaml:2: dataDir: must have no NUL character',
    ]);
  });

  it('A3 an alias without its anchor, and aliases that would fill the memory, are refused at their line', () => {
    expect(faultsOf('nodeId: n1\ndataDir: *nowhere\n')[0]).to.match(/^agent\.yaml:2: .*nowhere/);
    const levels = [...'abcdefghi'].map((name, level, names) => {
      const below = level === 0 ? 'x' : `*${names[level - 1]}`;
      return `${name}: &${name} [${Array(10).fill(below).join(', ')}]`;
    });
    expect(faultsOf(levels.join('\n'))[0]).to.match(/^agent\.yaml:\d+: .*alias/i);
  });

  it('A3 text that is not YAML is refused at its line', () => {
    expect(faultsOf('nodeId: n1\ntasks: [\n')[0]).to.match(/^agent\.yaml:\d+: /);
  });

  it('A3 a missing file is named in the error', () => {
    expect(() => loadConfig('/nowhere/agent.yaml')).to.throw(StagecraftError, /nowhere\/agent\.yaml/);
  });

  it('A3 a relative dataDir is relative to its file', () => {
    const directory = mkdtempSync(join(tmpdir(), 'stagecraft-config-'));
    try {
      writeFileSync(join(directory, 'agent.yaml'), 'dataDir: state/here\n');
      expect(loadConfig(join(directory, 'agent.yaml')).dataDir).to.equal(join(directory, 'state/here'));
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
