/**
 * A transcript: commands in a file, and below each command the output that it is expected to have. Blank lines end an output,
 * lines that begin with # are for readers.
 */

interface Block {
  /** Comments and blank lines before the command, as they stand. */
  before: string[];
  command: string;
  output: string[];
}

const separator = '----';

export function parsed(text: string): { blocks: Block[]; rest: string[] } {
  const blocks: Block[] = [];
  let before: string[] = [];
  let output: string[] | undefined;
  for (const line of text.trimEnd().split('\n')) {
    if (line === separator) {
      output = blocks.at(-1)?.output;
    } else if (output) {
      if (line === '') output = undefined;
      else output.push(line);
    } else if (line === '' || line.startsWith('#')) {
      before.push(line);
    } else {
      blocks.push({ before, command: line, output: [] });
      before = [];
    }
  }
  return { blocks, rest: before };
}

export const written = ({ blocks, rest }: { blocks: Block[]; rest: string[] }): string =>
  `${[
    ...blocks.flatMap(({ before, command, output }) => [
      ...before.filter(isComment),
      command,
      separator,
      ...output,
      '',
    ]),
    ...rest.filter(isComment),
  ]
    .join('\n')
    .trimEnd()}\n`;

const isComment = (line: string): boolean => line !== '';
