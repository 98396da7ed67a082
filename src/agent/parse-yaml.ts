/**
 * Parses YAML with a bound on its depth. The library calls itself for each level, so that a file of some thousand levels would
 * end the process. Commands use nothing else to read YAML.
 */
import {
  type Document,
  isMap,
  isNode,
  isScalar,
  Lexer,
  LineCounter,
  type ParsedNode,
  Parser,
  parseAllDocuments,
  parseDocument,
  YAMLParseError,
} from 'yaml';

/** Open maps, lists and items at once. */
const mostLevels = 200;

/** @returns the document, with its faults in `errors` */
export function parseYaml(text: string, lineCounter = new LineCounter()): Document.Parsed {
  const at = tooDeepAt(text);
  return at === undefined ? parseDocument(text, { lineCounter, prettyErrors: false }) : refused(text, at, lineCounter);
}

/** @returns all documents, with their faults in `errors` */
export function parseAllYaml(text: string, lineCounter: LineCounter): Document.Parsed<ParsedNode>[] {
  const at = tooDeepAt(text);
  return at === undefined
    ? [...parseAllDocuments(text, { lineCounter, prettyErrors: false })]
    : [refused(text, at, lineCounter)];
}

/** Says what is wrong, and shows the line. */
export function yamlFault({ message, pos: [at] }: YAMLParseError, text: string): string {
  const end = text.indexOf('\n', at);
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, end < 0 ? undefined : end);
  return `${message}: ${JSON.stringify(line.trimEnd())}`;
}

/** Offset of the first value that is nested too deep. */
function tooDeepAt(text: string): number | undefined {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    for (const _ of parser.next(lexeme)); // the parser keeps a stack of its own
    if (parser.stack.length > mostLevels) return parser.offset;
  }
  return undefined;
}

/** A document without content, whose fault is at the offset of the text. */
function refused(text: string, at: number, lineCounter: LineCounter): Document.Parsed {
  const document = parseDocument('');
  lineCounter.addNewLine(0);
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) lineCounter.addNewLine(end + 1);
  const message = `maps and lists are nested more than ${mostLevels} levels deep: nothing here needs that`;
  document.errors.push(new YAMLParseError([at, at + 1], 'RESOURCE_EXHAUSTION', message));
  return document;
}

/** @returns offset of the value's key, of the value, or of the nearest value that encloses it */
export function offsetOf(document: Document, path: PropertyKey[]): number | undefined {
  for (let depth = path.length; depth > 0; depth -= 1) {
    const parent = document.getIn(path.slice(0, depth - 1), true);
    const key = path[depth - 1];
    const pair = isMap(parent) ? parent.items.find((item) => isScalar(item.key) && item.key.value === key) : undefined;
    const found = pair?.key ?? document.getIn(path.slice(0, depth), true);
    if (isNode(found) && found.range) return found.range[0];
  }
  return undefined;
}
