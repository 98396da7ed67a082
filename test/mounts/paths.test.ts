/** Where volumes are staged and published: safe and its own path for whatever ids there are. */
import { join, normalize } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { type MountPath, type MountPaths, mountPaths } from '../../src/mounts/paths.js';
import { refusalOf } from '../refusal.js';

const dataDir = '/var/lib/stagecraft';
const paths = mountPaths({ dataDir, socketRoot: dataDir });
const key = { namespace: 'default', id: 'data' };

const oddId = fc.oneof(
  fc.constantFrom('..', '.', '', '/', '../../etc', 'a/b', 'a\0b', '\0', ' ', '\n', '~', '*', 'x'.repeat(300), '😀'),
  fc.constantFrom('"', '\\', '","', '\\ud800', '\ud800', '\udc00', '\ud83d\ude00', 'é', 'e\u0301', 'ÿ', '__proto__'),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 }).map((units) => String.fromCharCode(...units)),
);
const use = fc.record({
  plugin: oddId,
  key: fc.record({ namespace: oddId, id: oddId }),
  allocId: oddId,
});
type Use = typeof use extends fc.Arbitrary<infer T> ? T : never;

/** All that is made on the host for one use. */
const madeFor = (of: MountPaths, { plugin, key, allocId }: Use): MountPath[] => [
  of.staging(plugin, key),
  of.target(plugin, key, allocId),
];

describe('mount paths', () => {
  it('M1 staging is one for the plugin and volume, the target one for the alloc too, as the table has them', () => {
    const hash = '[0-9a-f]{16}';
    expect(paths.root).to.equal('/var/lib/stagecraft/csi');
    expect(paths.staging('disk', key).path).to.match(new RegExp(`^${dataDir}/csi/${hash}/staging/${hash}$`));
    const target = paths.target('disk', key, 'alloc-1');
    expect(target.path).to.match(new RegExp(`^${dataDir}/csi/${hash}/per-alloc/${hash}/${hash}$`));
    expect(target.subject).to.deep.equal(key);
    expect(target.parents.map(({ path }) => path.replace(new RegExp(hash, 'g'), '#'))).to.deep.equal([
      '/var/lib/stagecraft/csi/#',
      '/var/lib/stagecraft/csi/#/per-alloc',
      '/var/lib/stagecraft/csi/#/per-alloc/#',
    ]);
    expect(target.parents.map(({ subject }) => subject)).to.deep.equal([
      { plugin: 'disk' },
      undefined,
      { allocId: 'alloc-1' },
    ]);
  });

  it('M1 the same ids have the same paths in every version', () => {
    expect(paths.staging('disk', key).path).to.equal(`${dataDir}/csi/8d686b3f656e28a4/staging/42cc81cd8c28e518`);
    expect(paths.target('disk', key, 'alloc-1').path).to.equal(
      `${dataDir}/csi/8d686b3f656e28a4/per-alloc/85805421f4f581db/42cc81cd8c28e518`,
    );
  });

  it('M1, 34.10 with a salt nobody can work out where a volume is, but for the directory of its plugin', () => {
    const places = ['s', 't'].map((salt) =>
      madeFor(mountPaths({ dataDir, socketRoot: dataDir, salt }), { plugin: 'disk', key, allocId: 'a' }),
    );
    const [plain = [], some = [], others = []] = [madeFor(paths, { plugin: 'disk', key, allocId: 'a' }), ...places];
    for (const [index, { path, parents }] of plain.entries()) {
      expect(new Set([path, some[index]?.path, others[index]?.path]).size).to.equal(3);
      expect(some[index]?.parents[0]?.path).to.equal(parents[0]?.path);
    }
    expect(some[1]?.parents[2]?.path).not.to.equal(plain[1]?.parents[2]?.path);
  });

  it('M12 uses that differ in anything have paths that differ', () => {
    fc.assert(
      fc.property(use, use, (one, other) => {
        const [staging, target] = madeFor(paths, one);
        const [otherStaging, otherTarget] = madeFor(paths, other);
        const isSameVolume =
          one.plugin === other.plugin && one.key.namespace === other.key.namespace && one.key.id === other.key.id;
        expect(staging?.path === otherStaging?.path).to.equal(isSameVolume);
        expect(target?.path === otherTarget?.path).to.equal(isSameVolume && one.allocId === other.allocId);
      }),
      { numRuns: 2_000 },
    );
  });

  it('M12 what is told apart by nothing but where one id ends and the next begins has paths of its own', () => {
    const keys = [
      { namespace: 'a', id: 'b/c' },
      { namespace: 'a/b', id: 'c' },
      { namespace: 'a","b', id: 'c' },
      { namespace: 'a', id: 'b","c' },
      { namespace: '\\ud800', id: 'c' },
      { namespace: '\ud800', id: 'c' },
      { namespace: '\ud801', id: 'c' },
    ];
    expect(new Set(keys.map((each) => paths.staging('disk', each).path)).size).to.equal(keys.length);
  });

  it('M1 any id gives a path below the root, with nothing of the id in it', () => {
    fc.assert(
      fc.property(use, (of) => {
        for (const { path, parents } of madeFor(paths, of)) {
          for (const made of [path, ...parents.map((parent) => parent.path)]) {
            expect(made).to.match(/^\/var\/lib\/stagecraft\/csi(?:\/(?:[0-9a-f]{16}|staging|per-alloc))+$/);
            expect(made).to.equal(normalize(made));
          }
          expect(paths.toPlugin(of.plugin, path)).to.equal(path);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('M1 a plugin is told the short name of a long data directory', () => {
    const long = `/srv/${'long/'.repeat(40)}data`;
    const short = '/run/stagecraft/0123456789abcdef';
    const target = mountPaths({ dataDir: long, socketRoot: short }).target('disk', key, 'a');
    expect(target.path).to.match(/^\/srv\/long\//);
    const told = mountPaths({ dataDir: long, socketRoot: short }).toPlugin('disk', target.path);
    expect(told).to.equal(target.path.replace(long, short));
  });

  it('M1 a plugin that sees it elsewhere is told so', () => {
    const { path } = paths.staging('disk', key);
    const rest = path.slice(paths.pluginRoot('disk').length);
    expect(rest).to.match(/^\/staging\//);
    for (const [base, told] of [
      ['/csi', `/csi${rest}`],
      ['/csi//', `/csi${rest}`],
      ['/', rest],
    ] as const) {
      expect(paths.toPlugin('disk', path, base)).to.equal(told);
    }
  });

  it('M1 128 bytes are told, 129 are refused with what to shorten', async () => {
    const { path } = paths.target('disk', key, 'a');
    const rest = Buffer.byteLength(path) - Buffer.byteLength(paths.pluginRoot('disk'));
    const fits = `/${'ü'.repeat((128 - rest - 2) / 2)}x`;
    expect(Buffer.byteLength(paths.toPlugin('disk', path, fits))).to.equal(128);
    const { code, message } = await refusalOf((async () => paths.toPlugin('disk', path, `${fits}y`))());
    expect(code).to.equal('INVALID_ARGUMENT');
    expect(message).to.include(`stagePublishBaseDir '${fits}y' of plugin 'disk'`);
    expect(message).to.include('path of 129 bytes, drivers take 128: choose one that is shorter by 1 or more');
  });

  it('M1 a data directory without a short name is refused where paths below it are too long', async () => {
    const long = `/${'x'.repeat(80)}`;
    const own = mountPaths({ dataDir: long, socketRoot: long });
    const { code, message } = await refusalOf((async () => own.toPlugin('disk', own.target('disk', key, 'a').path))());
    expect(code).to.equal('INVALID_ARGUMENT');
    expect(message).to.include(`dataDir '${long}'`);
  });

  it('M12 a plugin is never told a place of another one', () => {
    const { path } = paths.staging('disk', key);
    expect(() => paths.toPlugin('other', path)).to.throw(TypeError, "no place of plugin 'other'");
    expect(() => paths.toPlugin('disk', join(`${paths.pluginRoot('disk')}x`, 'staging'))).to.throw(TypeError);
  });
});
