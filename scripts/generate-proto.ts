/**
 * Generates src/csi/generated/plain.ts, the messages of proto/csi.proto as plain types. `--check` writes nothing, and fails
 * if the file is stale. Its text comes from plain-messages.ts.
 * Exports readers of the compiled descriptor, for generate-test-messages.ts and test/csi/proto.test.ts.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
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
const outFile = join(root, 'src/csi/generated/plain.ts');

const protoFile = 'csi.proto';
export const banner = '// Generated, do not edit: npm run generate';

/** Registers a custom `bool` option of fields with google-protobuf. */
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

export const csiSecret = new FieldFlag(1059, 'csiSecret');
export const alphaField = new FieldFlag(1060, 'alphaField');

export function isSecret(field: FieldDescriptorProto): boolean {
  return field.getOptions()?.getExtension(csiSecret) ?? false;
}

export function isAlpha(field: FieldDescriptorProto): boolean {
  return field.getOptions()?.getExtension(alphaField) ?? false;
}

/**
 * Compiles proto/csi.proto with the protoc of node_modules.
 * @returns the descriptors of csi.proto and of its imports, with custom options
 */
export function compileProto(): FileDescriptorSet {
  return inTemporaryFolder((folder) => {
    const output = join(folder, 'set.bin');
    protoc([`--proto_path=${protoDir}`, '--include_imports', `--descriptor_set_out=${output}`, protoFile]);
    return descriptorPb.FileDescriptorSet.deserializeBinary(readFileSync(output));
  });
}

/** Lists the messages of csi.proto by their names without the package. Nested messages (`Outer.Inner`) follow their outer message. */
export function messagesOf(set: FileDescriptorSet): Array<[name: string, message: DescriptorProto]> {
  const csi = set.getFileList().filter((file) => file.getName() === protoFile);
  return csi.flatMap((file) => file.getMessageTypeList()).flatMap((message) => withNested(message));
}

export function withNested(message: DescriptorProto, outer = ''): Array<[string, DescriptorProto]> {
  const name = `${outer}${message.getName()}`;
  const nested = message.getNestedTypeList().filter((inner) => !inner.getOptions()?.getMapEntry());
  return [[name, message], ...nested.flatMap((inner) => withNested(inner, `${name}.`))];
}

/** Lists the enums of csi.proto by their names without the package. */
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

function generate(): string {
  const set = compileProto();
  const [messages, enums] = [messagesOf(set), enumsOf(set)];
  return plainSource({ package: 'csi.v1', enums, messages, services: set, protoFile, isSecret }, banner);
}

export function protoc(args: string[]): void {
  execFileSync(process.execPath, [require.resolve('protoc/protoc.cjs'), ...args], { stdio: 'inherit' });
}

export function inTemporaryFolder<T>(use: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'stagecraft-proto-'));
  try {
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function main(args: string[]): void {
  const text = generate();
  const isStale = !existsSync(outFile) || readFileSync(outFile, 'utf8') !== text;
  const name = relative(root, outFile);
  if (args.includes('--check')) {
    if (!isStale) return;
    process.stderr.write(`${name} is stale: run "npm run generate" and commit it\n`);
    process.exitCode = 1;
    return;
  }
  if (isStale) writeFileSync(outFile, text);
  process.stdout.write(isStale ? `Updated: ${name}\n` : `${name} is up to date.\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
