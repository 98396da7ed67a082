/** Places of sockets that another user can take. */
import { chmodSync, chownSync, lchownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { placeFault } from '../../src/host/socket-path.js';

const other = 12_345;

describe('the place of a socket', () => {
  let root: string;
  let shared: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'stagecraft-place-'));
    shared = join(root, 'tmp');
    mkdirSync(shared);
    chmodSync(shared, 0o1777);
  });
  afterEach(() => rmSync(root, { recursive: true }));

  function make(owner: number, ...names: string[]): string {
    const directory = join(...names.slice(0, -1));
    mkdirSync(directory, { recursive: true });
    const path = join(...names);
    writeFileSync(path, '');
    for (const one of names.length > 2 ? [directory, path] : [path]) chownSync(one, owner, owner);
    return path;
  }

  it('34 a socket below /tmp of another user is refused, with what to do', () => {
    for (const path of [make(other, shared, 'csi.sock'), make(other, shared, 'plugin', 'csi.sock')])
      expect(placeFault(path), path).to.contain(`every user can write ${shared}`).and.contain('below /run');
    symlinkSync(join(shared, 'plugin'), join(root, 'link'));
    expect(placeFault(join(root, 'link', 'csi.sock'))).to.contain(`every user can write ${shared}`);
  });

  it('34 a socket behind a link of another user below /tmp is refused, wherever it leads', () => {
    make(0, root, 'run', 'csi.sock');
    for (const [name, target] of [
      ['plug', join(root, 'run')],
      ['relative', '../run'],
    ] as const) {
      const link = join(shared, name);
      symlinkSync(target, link);
      lchownSync(link, other, other);
      expect(placeFault(join(link, 'csi.sock')), name).to.contain(`${link} is user ${other}'s`);
    }
    symlinkSync(join(shared, 'relative'), join(root, 'chain'));
    expect(placeFault(join(root, 'chain', 'csi.sock'))).to.contain(`${join(shared, 'relative')} is user ${other}'s`);
    make(0, shared, 'own', 'csi.sock');
    symlinkSync('../run/csi.sock', join(shared, 'own', 'link.sock'));
    expect(placeFault(join(shared, 'own', 'link.sock'))).to.equal(undefined);
  });

  it('34 a link as the socket is followed and looked at; one that leads in a circle is refused', () => {
    make(other, shared, 'csi.sock');
    symlinkSync(join(shared, 'csi.sock'), join(root, 'link.sock'));
    expect(placeFault(join(root, 'link.sock'))).to.contain(`every user can write ${shared}`);
    symlinkSync(join(root, 'circle'), join(root, 'circle'));
    expect(placeFault(join(root, 'circle', 'csi.sock'))).to.contain('too many links');
  });

  it('34 one of root or of our own user is not, nor one in a directory that only its owner can write', () => {
    expect(placeFault(make(0, shared, 'plugin', 'csi.sock'))).to.equal(undefined);
    expect(placeFault(make(other, shared, 'own', 'csi.sock'), other)).to.equal(undefined);
    expect(placeFault(make(other, root, 'run', 'csi.sock'))).to.equal(undefined);
    expect(placeFault(join(shared, 'none', 'csi.sock'))).to.equal(undefined);
    expect(placeFault(join(shared, 'none.sock'))).to.equal(undefined);
  });

  it('34 in a directory where every user can replace what others made, nobody’s socket is safe', () => {
    chmodSync(shared, 0o777);
    expect(placeFault(make(0, shared, 'csi.sock'))).to.contain(`every user can write ${shared}`);
  });
});
