/** Checks that the linter enforces the direction of imports between folders. */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const root = fileURLToPath(new URL('../..', import.meta.url));

type Case = readonly [folder: string, imported: string];

interface Verdict {
  status: number | null;
  output: string;
  /** Lint rules that the file breaks. */
  brokenBy(file: string): string[];
}

const fileOf = (cases: readonly Case[], one: Case): string => `${one[0]}/case-${cases.indexOf(one)}.ts`;

/** Lints one file for each case. */
const lintCases = (cases: readonly Case[]): Verdict =>
  lint(
    cases.map((one) => [
      fileOf(cases, one),
      `import { something } from '${one[1]}';\n\nexport const used = something;\n`,
    ]),
  );

/** Lints files, each with its text, in a temporary project with the rules of this one. */
function lint(files: readonly (readonly [file: string, text: string])[]): Verdict {
  const house = realpathSync(mkdtempSync(join(tmpdir(), 'stagecraft-house-')));
  try {
    copyFileSync(join(root, 'biome.json'), join(house, 'biome.json'));
    for (const [file, text] of files) {
      mkdirSync(dirname(join(house, file)), { recursive: true });
      writeFileSync(join(house, file), text);
    }
    const biome = join(root, 'node_modules/.bin/biome');
    const args = ['lint', '--reporter=github', '--max-diagnostics=none', '.'];
    const { status, stdout, stderr } = spawnSync(biome, args, { cwd: house, encoding: 'utf8' });
    const errors = [...stdout.matchAll(/^::error title=lint\/\w+\/(\w+),file=([^,]+),/gm)];
    return {
      status,
      output: stdout + stderr,
      brokenBy: (file) => errors.filter(([, , path]) => path === join(house, file)).map(([, rule = '']) => rule),
    };
  } finally {
    rmSync(house, { recursive: true });
  }
}

describe('import direction', () => {
  const violations: Case[] = [
    ['machines', '../src/errors.js'],
    ['machines', 'node:fs'],
    ['machines/volume', '../../src/errors.js'],
    ['machines/volume', '../snapshot/types.js'],
    ['machines/kit', '../volume/types.js'],
    ['machines/plan', '../kit/parts.js'],
    ['src/engine', '../stores/memory/memory.js'],
    ['src/engine', '../registry/dispenser.js'],
    ['src/engine', '../../machines/volume/types.js'],
    ['src/engine/actor', '../../registry/dispenser.js'],
    ['src/engine/actor', '../../../machines/volume/types.js'],
    ['src/stores', '../engine/engine.js'],
    ['src/stores/lmdb', '../../engine/engine.js'],
    ['src/csi', '../registry/dispenser.js'],
    ['src/csi', '../../machines/volume/types.js'],
    ['src/csi-plugins', '../registry/plugin-registry.js'],
    ['src/csi-plugins', '../volumes/volume-manager.js'],
    ['src/registry', '../csi/client.js'],
    ['src/registry', '../tasks/spec.js'],
    ['src/tasks', '../registry/clients.js'],
    ['src/runtime', '../tools/driver/driver.js'],
    ['src', './tools/driver/driver.js'],
    ['src/volumes', '../tools/driver/driver.js'],
    ['src/tools/driver', '../../engine/clock.js'],
    ['src/tools/driver-check', '../driver/driver.js'],
    ['src/tools/driver-check/checks', '../../driver/driver.js'],
    ['src/tools/driver-check', '../../runtime/runtime.js'],
    ['src/journal', '../engine/engine.js'],
    ['src/journal', '../runtime/runtime.js'],
    ['src/cluster', '../volumes/volume-manager.js'],
    ['src/cluster', '../stores/redis/redis.js'],
    ['src/api', '../runtime/runtime.js'],
    ['src/api', '../inspector/json-server.js'],
    ['src/client', '../agent/api.js'],
    ['src/client', '../errors.js'],
    ['src/inspector', '../engine/engine.js'],
    ['src/inspector', '../volumes/volume-manager.js'],
    ['src/agent', '../engine/engine.js'],
    ['src/agent', '../stores/redis/redis.js'],
    ['src/volumes', '../registry/plugin-registry.js'],
    ['src/volumes', '../csi/client.js'],
    ['src/volumes', '../mounts/mounter.js'],
    ['src/nodes', '../mounts/mounter.js'],
    ['src/snapshots', '../allocs/allocations.js'],
    ['src/mounts', '../volumes/spec.js'],
    ['src/allocs', '../volumes/spec.js'],
    ['src/secrets', '../calls/plugin-calls.js'],
    ['src/calls', '../volumes/volume-kind.js'],
    ['src/cli', '../runtime/runtime.js'],
    ['src/cli', '../inspector/serve-inspector.js'],
    ['src/page/log', '../../inspector/serve-inspector.js'],
    ['src/page/chart', '../../runtime/runtime.js'],
    ['src/cli', '../volumes/spec.js'],
    ['src/testing', '../stores/memory/memory.js'],
    ['src/tools/store-suite', '../../stores/memory/memory.js'],
    ['src/tools/fault-driver', '../../registry/dispenser.js'],
    ['src/tools/fault-driver/judge', '../../../engine/clock.js'],
  ];
  const allowed: Case[] = [
    ['machines', './plugin/plugin.js'],
    ['machines', './kit/host.js'],
    ['machines/mount', '../volume/types.js'],
    ['machines/kit', '../plan/planned-machine.js'],
    ['machines/volume', '../kit/host.js'],
    ['src/engine', '../../machines/kit/host.js'],
    ['src/engine/actor', '../store.js'],
    ['src/engine/actor', '../../../machines/kit/host.js'],
    ['src/engine/machine', '../../../machines/plan/planned-machine.js'],
    ['src/stores', '../engine/store.js'],
    ['src/stores/lmdb', '../../engine/store.js'],
    ['src/csi', '../../machines/kit/csi-types.js'],
    ['src/csi-plugins', '../registry/dispenser.js'],
    ['src/csi-plugins', '../csi/client.js'],
    ['src/nodes', '../volumes/volume-manager.js'],
    ['src/allocs', '../mounts/mounter.js'],
    ['src/calls', '../secrets/secrets.js'],
    ['src/registry', '../engine/engine.js'],
    ['src/cli', '../journal/journal-file.js'],
    ['src/page/log', '../../api/actor-routes.js'],
    ['src/cluster', '../engine/store.js'],
    ['src/api', '../volumes/spec.js'],
    ['src/client', '../api/paths.js'],
    ['src/cli', '../client/client.js'],
    ['src/journal', '../engine/machine/replay.js'],
    ['src/inspector', '../engine/feed.js'],
    ['src/agent', '../secrets/secrets-providers.js'],
    ['src/mounts', '../requests/fields.js'],
    ['src/volumes', '../engine/engine.js'],
    ['src/tools/store-suite', '../../engine/store.js'],
    ['src/tools/fault-driver', '../driver/driver.js'],
    ['src/tools/fault-driver/judge', '../../../csi/answers.js'],
    ['src/tools/driver-check', '../../csi/csi-calls.js'],
    ['src/tools/driver-check/checks', '../context.js'],
    ['src/tools/driver-check/checks', '../../../csi/codec.js'],
    ['src/testing', '../tools/driver-check/run.js'],
  ];

  let refused: Verdict;
  let passed: Verdict;

  before(() => {
    refused = lintCases(violations);
    passed = lintCases(allowed);
  });

  for (const one of violations) {
    it(`${one[0]} that imports ${one[1]} fails the lint`, () => {
      expect(refused.status).to.equal(1);
      expect(refused.brokenBy(fileOf(violations, one)), refused.output).to.include('noRestrictedImports');
    });
  }

  for (const one of allowed) {
    it(`${one[0]} may import ${one[1]}`, () => {
      expect(passed.brokenBy(fileOf(allowed, one))).to.deep.equal([]);
      expect(passed.status, passed.output).to.equal(0);
    });
  }
});

describe('import cycles', () => {
  it('36.6b three files that import types of each other in a circle fail the lint', () => {
    const files = ['src/engine/a.ts', 'src/engine/actor/b.ts', 'src/engine/c.ts'];
    const { brokenBy, output } = lint([
      ['src/engine/a.ts', "import type { B } from './actor/b.js';\n\nexport type A = B | 'a';\n"],
      ['src/engine/actor/b.ts', "import type { C } from '../c.js';\n\nexport type B = C[];\n"],
      ['src/engine/c.ts', "import type { A } from './a.js';\n\nexport type C = { a: A };\n"],
    ]);
    for (const file of files) expect(brokenBy(file), output).to.deep.equal(['noImportCycles']);
  });
});

describe('states of volumes, mounts and snapshots', () => {
  /** Hosts of all machines, the path in the chart, machines whose states say all, and values of older versions. */
  const exempt = [
    ...['engine/feed.ts', 'journal/history.ts', 'nodes/node-manager.ts', 'allocs/alloc-view.ts'],
    'snapshots/snapshot-migration.ts',
  ];

  it('35.2 src/ asks states.ts of the machine, with value and context: it takes no value apart', () => {
    const src = join(root, 'src');
    const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) => /\.tsx?$/.test(path));
    const readers = files.filter((path) => readFileSync(join(src, path), 'utf8').includes('/kit/state-path.js'));
    expect(readers).to.have.members(exempt);
  });
});
