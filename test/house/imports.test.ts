/** The import direction is held by the linter: here it is shown that it does hold it. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Lints one file in a house of its own, by the rules of this one. */
function lint(folder: string, imported: string): { status: number | null; output: string } {
  const house = mkdtempSync(join(tmpdir(), 'stagecraft-house-'));
  try {
    copyFileSync(join(root, 'biome.json'), join(house, 'biome.json'));
    mkdirSync(join(house, folder), { recursive: true });
    const text = `import { something } from '${imported}';\n\nexport const used = something;\n`;
    writeFileSync(join(house, folder, 'file.ts'), text);
    const biome = join(root, 'node_modules/.bin/biome');
    const { status, stdout, stderr } = spawnSync(biome, ['lint', '.'], { cwd: house, encoding: 'utf8' });
    return { status, output: stdout + stderr };
  } finally {
    rmSync(house, { recursive: true });
  }
}

describe('import direction', () => {
  const violations: [folder: string, imported: string][] = [
    ['machines', '../src/errors.js'],
    ['machines', 'node:fs'],
    ['src/engine', '../stores/memory.js'],
    ['src/engine', '../registry/dispenser.js'],
    ['src/stores', '../engine/engine.js'],
    ['src/csi', '../registry/plugin-registry.js'],
    ['src/registry', '../csi/client.js'],
    ['src/registry', '../tasks/spec.js'],
    ['src/tasks', '../registry/clients.js'],
    ['src/driver', '../engine/clock.js'],
    ['src/driver-check', '../driver/driver.js'],
    ['src/driver-check/checks', '../../driver/driver.js'],
    ['src/driver-check', '../runtime.js'],
    ['src/agent', '../engine/engine.js'],
    ['src/agent', '../stores/redis.js'],
    ['src/volumes', '../registry/plugin-registry.js'],
    ['src/volumes', '../csi/client.js'],
    ['src/volumes', '../mounts/mounter.js'],
    ['src/mounts', '../volumes/spec.js'],
    ['src/calls', '../volumes/volume-kind.js'],
    ['src/cli', '../runtime.js'],
    ['src/cli', '../volumes/spec.js'],
    ['src/testing', '../stores/memory.js'],
    ['src/testing/store-suite', '../../stores/memory.js'],
    ['src/testing/fault-driver', '../../registry/dispenser.js'],
    ['src/testing/fault-driver/judge', '../../../engine/clock.js'],
  ];
  for (const [folder, imported] of violations) {
    it(`${folder} that imports ${imported} fails the lint`, () => {
      const { status, output } = lint(folder, imported);
      expect(status).to.equal(1);
      expect(output).to.include('noRestrictedImports');
    });
  }

  for (const [folder, imported] of [
    ['machines', './plugin.js'],
    ['src/engine', '../../machines/host.js'],
    ['src/stores', '../engine/store.js'],
    ['src/csi', '../registry/dispenser.js'],
    ['src/registry', '../engine/engine.js'],
    ['src/agent', '../calls/secrets-providers.js'],
    ['src/mounts', '../requests/fields.js'],
    ['src/volumes', '../engine/engine.js'],
    ['src/testing/store-suite', '../../engine/store.js'],
    ['src/testing/fault-driver', '../../driver/driver.js'],
    ['src/testing/fault-driver/judge', '../../../csi/answers.js'],
    ['src/driver-check', '../csi/calls.js'],
    ['src/driver-check/checks', '../bench.js'],
    ['src/driver-check/checks', '../../csi/codec.js'],
    ['src/testing', '../driver-check/run.js'],
  ] as const) {
    it(`${folder} may import ${imported}`, () => {
      const { status, output } = lint(folder, imported);
      expect(status, output).to.equal(0);
    });
  }
});
