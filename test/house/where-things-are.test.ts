/** Checks that docs/where-things-are.md and docs/architecture.md name files and declarations that exist. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const root = fileURLToPath(new URL('../..', import.meta.url));
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

const page = textOf('docs/where-things-are.md');

/** One row of a table of questions. The last cell names files, each with its declarations in brackets. */
interface Row {
  question: string;
  where: { file: string; names: string[] }[];
}

const spansIn = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span);

const rows: Row[] = page.split('\n').flatMap((line) => {
  const [, question = '', , where] = line.split(' | ').length === 3 ? ['', ...line.split(' | ')] : [];
  if (where === undefined || question === '| question') return [];
  const places = [...where.matchAll(/`([^`]+)`(?: \(([^)]*)\))?/g)];
  return [
    {
      question: question.replace(/^\| /, ''),
      where: places.map(([, file = '', names = '']) => ({ file, names: spansIn(names) })),
    },
  ];
});

/** Whether a file declares a name: a function, a value, a class, a method or a property. */
function declares(file: string, name: string): boolean {
  const declared = `(?:function\\*?|const|let|class|interface|type) ${name}\\b`;
  const member = `^ +(?:(?:async|get|readonly|static) )*#?${name}(?:<[^>]*>)?[?]?[(:=]`;
  return new RegExp(`${declared}|${member}`, 'm').test(textOf(file));
}

describe('docs/where-things-are.md', () => {
  it('has at least twenty questions, each with a place', () => {
    expect(rows).to.have.length.of.at.least(20);
    expect(rows.filter(({ where }) => where.length === 0).map(({ question }) => question)).to.deep.equal([]);
  });

  it('every file and name in the last column exists', () => {
    const missing = rows.flatMap(({ where }) =>
      where.flatMap(({ file, names }) =>
        existsSync(join(root, file))
          ? names.filter((name) => !declares(file, name)).map((name) => `${file}: ${name}`)
          : [file],
      ),
    );
    expect(missing).to.deep.equal([]);
  });

  it('every path in docs/architecture.md exists', () => {
    const paths = spansIn(textOf('docs/architecture.md').replace(/```.*?```/gs, '')).filter((span) =>
      /^(?:machines|src|test|scripts)\/[\w./-]+$/.test(span),
    );
    expect(paths).to.include('src/engine/store.ts');
    expect(paths.filter((path) => !existsSync(join(root, path)))).to.deep.equal([]);
  });
});
