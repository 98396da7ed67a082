/** Checks references in documents: error codes, files, sections and npm scripts must exist. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { errorTable } from '../../machines/kit/error-table.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

const filesIn = (folder: string, ending: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));

const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

const documents = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'UPGRADING.md', ...filesIn('docs', '.md')];

const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

describe('documents', () => {
  it('README.md has at most 120 lines, and no line of code that needs scrolling', () => {
    const text = textOf('README.md');
    const code = [...text.matchAll(/^```\w+\n(.*?)^```$/gms)].flatMap(([, block = '']) => block.split('\n'));
    expect(code).to.include('npm ci && npm start');
    expect(code.filter((line) => line.length > 88)).to.deep.equal([]);
    expect(text.split('\n').length - 1).to.be.at.most(120);
  });

  const sources = [...filesIn('src', '.ts'), ...filesIn('machines', '.ts')].filter(
    (file) => !file.includes('generated') && !file.includes('store-suite') && !file.endsWith('error-table.ts'),
  );

  it('each code of the error table is used in the source', () => {
    const text = sources.map(textOf).join('\n');
    expect(Object.keys(errorTable).filter((code) => !text.includes(`'${code}'`))).to.deep.equal([]);
  });

  it('every error code of the source is in docs/errors.md', () => {
    const codes = sources.flatMap((file) =>
      [
        ...textOf(file).matchAll(/(?:StagecraftError|AgentError|refused)\(\s*'([A-Z_]+)'|\bcode: '([A-Z][A-Z_]+)'/g),
      ].map(([, thrown, told]) => thrown ?? told ?? ''),
    );
    const listed = new Set([...textOf('docs/errors.md').matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, code]) => code));
    // Codes of log lines only.
    const logged = new Set(['STORE_UNSAFE', 'STORE_SUSPECT', 'STORE_ROLLED_BACK']);
    expect(codes).to.include('STORE_UNAVAILABLE');
    expect([...new Set(codes)].filter((code) => !listed.has(code) && !logged.has(code))).to.deep.equal([]);
  });

  for (const document of documents) {
    it(`all links of ${document} lead to existing targets`, () => {
      const links = [...textOf(document).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
      const dead = links.filter((target) => {
        if (/^https?:/.test(target)) return false;
        const [path = '', anchor] = target.split('#');
        const file = path === '' ? document : join(dirname(document), path);
        if (!existsSync(join(root, file))) return true;
        const headings = anchor
          ? [...textOf(file).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading))
          : [];
        return anchor !== undefined && !headings.includes(anchor);
      });
      expect(dead).to.deep.equal([]);
    });
  }

  it('each npm script in a document exists', () => {
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
    const named = documents.flatMap((document) =>
      [...textOf(document).matchAll(/npm (?:run ([\w:]+)|(test|start)\b)/g)].map(
        ([, run, plain]) => run ?? plain ?? '',
      ),
    );
    expect(named).to.include('test');
    expect([...new Set(named)].filter((name) => !(name in scripts))).to.deep.equal([]);
  });

  it('each reference from the source to a section of a document exists', () => {
    const dead = [...filesIn('src', '.ts'), ...filesIn('machines', '.ts')].flatMap((file) =>
      [...textOf(file).matchAll(/(docs\/[\w/.-]+\.md)(?:#([\w-]+))?/g)].flatMap(([place, path = '', anchor]) => {
        if (!existsSync(join(root, path))) return `${file}: ${place}`;
        const headings = [...textOf(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));
        return anchor && !headings.includes(anchor) ? `${file}: ${place}` : [];
      }),
    );
    expect(dead).to.deep.equal([]);
  });
});
