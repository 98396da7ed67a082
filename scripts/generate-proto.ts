/**
 * Generates src/csi/generated from proto/csi.proto: message classes, gRPC clients and definitions, plain messages.
 * With `--check` it writes nothing and fails, naming the files that are stale.
 * The descriptor part (`compileProto` and its readers) is shared with test/csi/proto.test.ts.
 *
 * protoc compiles to a descriptor set → custom options are taken out, 64-bit integers become strings →
 * protoc-gen-ts → `adapt` mends what ESM, strict types and other encoders need.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import jspb from 'google-protobuf';
import type {
  DescriptorProto,
  EnumDescriptorProto,
  FieldDescriptorProto,
  FileDescriptorSet,
} from 'google-protobuf/google/protobuf/descriptor_pb.js';
import descriptorPb from 'google-protobuf/google/protobuf/descriptor_pb.js';
import { plainSource } from './plain-messages.js';

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL('..', import.meta.url));
const protoDir = join(root, 'proto');
const outDir = join(root, 'src/csi/generated');

const protoFile = 'csi.proto';
const descriptorFile = 'google/protobuf/descriptor.proto';
/** The one file in the output folder that is written by hand. */
const handWritten = 'tsconfig.json';
const banner = '// Generated, do not edit: npm run generate';

/** A custom `bool` option on fields, as google-protobuf wants to be told of it. */
class FieldFlag extends jspb.ExtensionFieldInfo<boolean | undefined> {
  constructor(number: number, name: string) {
    super(number, { [name]: 0 }, jspb.Message, () => ({}), 0);
    descriptorPb.FieldOptions.extensionsBinary[number] = new jspb.ExtensionFieldBinaryInfo(
      this,
      jspb.BinaryReader.prototype.readBool,
      jspb.BinaryWriter.prototype.writeBool,
      () => {},
      (message) => message,
      false,
    );
  }

  override isMessageType(): boolean {
    return false;
  }
}

const csiSecret = new FieldFlag(1059, 'csiSecret');
const alphaField = new FieldFlag(1060, 'alphaField');

/** Whether a field of the compiled descriptor is marked `csi_secret`. */
export function isSecret(field: FieldDescriptorProto): boolean {
  return field.getOptions()?.getExtension(csiSecret) ?? false;
}

/** Whether a field of the compiled descriptor is marked `alpha_field`. */
export function isAlpha(field: FieldDescriptorProto): boolean {
  return field.getOptions()?.getExtension(alphaField) ?? false;
}

/**
 * Compiles proto/csi.proto with the protoc of node_modules.
 * @returns the descriptors of csi.proto and all that it imports, custom options included
 */
export function compileProto(): FileDescriptorSet {
  return inTemporaryFolder((folder) => {
    const output = join(folder, 'set.bin');
    protoc([`--proto_path=${protoDir}`, '--include_imports', `--descriptor_set_out=${output}`, protoFile]);
    return descriptorPb.FileDescriptorSet.deserializeBinary(readFileSync(output));
  });
}

/** Every message of csi.proto with its name below the package, nested ones (`Outer.Inner`) right after their outer. */
export function messagesOf(set: FileDescriptorSet): Array<[name: string, message: DescriptorProto]> {
  const csi = set.getFileList().filter((file) => file.getName() === protoFile);
  return csi.flatMap((file) => file.getMessageTypeList()).flatMap((message) => withNested(message));
}

function withNested(message: DescriptorProto, outer = ''): Array<[string, DescriptorProto]> {
  const name = `${outer}${message.getName()}`;
  const nested = message.getNestedTypeList().filter((inner) => !inner.getOptions()?.getMapEntry());
  return [[name, message], ...nested.flatMap((inner) => withNested(inner, `${name}.`))];
}

/** The descriptor set that protoc-gen-ts gets: plain messages and services, no number that could lose digits. */
function plainSet(set: FileDescriptorSet): FileDescriptorSet {
  const files = set.getFileList().filter((file) => file.getName() !== descriptorFile);
  for (const file of files) {
    file.clearExtensionList();
    file.setDependencyList(file.getDependencyList().filter((name) => name !== descriptorFile));
    for (const [, message] of file.getMessageTypeList().flatMap((outer) => withNested(outer))) {
      message.getFieldList().forEach(makePlain);
    }
  }
  return new descriptorPb.FileDescriptorSet().setFileList(files);
}

function makePlain(field: FieldDescriptorProto): void {
  // Options of other kinds (message, enum, …) are unknown to google-protobuf and went when the set was read.
  field.getOptions()?.setExtension(csiSecret, undefined);
  field.getOptions()?.setExtension(alphaField, undefined);
  if (is64Bit(field)) {
    const options = field.getOptions() ?? new descriptorPb.FieldOptions();
    field.setOptions(options.setJstype(descriptorPb.FieldOptions.JSType.JS_STRING));
  }
}

function is64Bit(field: FieldDescriptorProto): boolean {
  const { Type } = descriptorPb.FieldDescriptorProto;
  switch (field.getType()) {
    case Type.TYPE_INT64:
    case Type.TYPE_UINT64:
    case Type.TYPE_SINT64:
    case Type.TYPE_FIXED64:
    case Type.TYPE_SFIXED64:
      return true;
    default:
      return false;
  }
}

/** Runs protoc-gen-ts. @returns file texts by path, relative to the output folder */
function generateClasses(set: FileDescriptorSet): Map<string, string> {
  return inTemporaryFolder((folder) => {
    const input = join(folder, 'set.bin');
    const output = join(folder, 'out');
    mkdirSync(output);
    writeFileSync(input, set.serializeBinary());
    protoc([
      `--descriptor_set_in=${input}`,
      `--plugin=protoc-gen-ts=${require.resolve('protoc-gen-ts/protoc-gen-ts.js')}`,
      `--ts_out=explicit_override:${output}`,
      ...set.getFileList().map((file) => file.getName() ?? ''),
    ]);
    return new Map(filesIn(output).map((path) => [path, adapt(path, readFileSync(join(output, path), 'utf8'))]));
  });
}

/**
 * Mends the output of protoc-gen-ts:
 * - imports of its own files end in `.js`, as ESM needs;
 * - a message field that was not sent reads as `undefined`, and its type says so;
 * - a map entry whose key or value is empty may leave it out on the wire (Rust's prost does): that is '', not an error.
 */
function adapt(path: string, text: string): string {
  const source = text
    .replace(/^\/\*\*[\s\S]*?\*\/\n/, `${banner}\n`)
    .replaceAll(/ from "(\.[^"]*)";/g, ' from "$1.js";')
    .replaceAll(
      /get (\w+)\(\) \{(\s+return pb_1\.Message\.getWrapperField\(.*\) as )([\w.]+);/g,
      'get $1(): $3 | undefined {$2$3 | undefined;',
    )
    .replaceAll(/(writer\.writeMessage\(\d+, this\.(\w+), \(\) => this\.\2)\.serialize\(/g, '$1?.serialize(')
    .replaceAll(/(Map\.deserializeBinary\(.*, reader\.readString, reader\.readString)\)/g, '$1, undefined, "", "")');
  if (/Map\.deserializeBinary\((?!.*, undefined, "", ""\))/.test(source)) {
    throw new Error(`${path} has a map that is not map<string, string>: teach adapt() its default values`);
  }
  return source;
}

/** Every enum of csi.proto with its name below the package. */
function enumsOf(set: FileDescriptorSet): Array<[name: string, type: EnumDescriptorProto]> {
  const own = set.getFileList().filter((file) => file.getName() === protoFile);
  return [
    ...own.flatMap((file) => file.getEnumTypeList()).map((type) => named('', type)),
    ...messagesOf(set).flatMap(([outer, message]) => message.getEnumTypeList().map((type) => named(`${outer}.`, type))),
  ];
}

const named = (prefix: string, type: EnumDescriptorProto): [string, EnumDescriptorProto] => [
  `${prefix}${type.getName()}`,
  type,
];

/** Everything that belongs into the output folder, by path relative to it. */
function generate(): Map<string, string> {
  const set = compileProto();
  const [messages, enums] = [messagesOf(set), enumsOf(set)];
  const source = { package: 'csi.v1', enums, messages, services: set, protoFile, isSecret };
  const plain = plainSource(source, banner); // before plainSet, which takes the marks away
  return new Map([...generateClasses(plainSet(set)), ['plain.ts', plain]]);
}

function protoc(args: string[]): void {
  execFileSync(process.execPath, [require.resolve('protoc/protoc.cjs'), ...args], { stdio: 'inherit' });
}

function inTemporaryFolder<T>(use: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'stagecraft-proto-'));
  try {
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Paths of all files below a folder, relative to it, sorted. */
function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

/** Files of the output folder that are missing, differ, or do not belong there. */
function staleFiles(wanted: Map<string, string>): string[] {
  const present = filesIn(outDir).filter((path) => path !== handWritten);
  const differs = (path: string) =>
    !present.includes(path) || readFileSync(join(outDir, path), 'utf8') !== wanted.get(path);
  return [...new Set([...wanted.keys(), ...present])].filter(differs).sort();
}

function main(args: string[]): void {
  const wanted = generate();
  const stale = staleFiles(wanted);
  const names = stale.map((path) => `  ${relative(root, join(outDir, path))}\n`).join('');
  if (args.includes('--check')) {
    if (stale.length === 0) return;
    process.stderr.write(`Stale generated files; run "npm run generate" and commit:\n${names}`);
    process.exitCode = 1;
    return;
  }
  for (const path of stale) {
    const text = wanted.get(path);
    const target = join(outDir, path);
    if (text === undefined) {
      rmSync(target);
    } else {
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, text);
    }
  }
  process.stdout.write(stale.length === 0 ? 'Generated files are up to date.\n' : `Updated:\n${names}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
