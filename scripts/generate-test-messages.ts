/**
 * Generates test/generated with protoc-gen-ts: message classes, gRPC clients and service definitions of proto/csi.proto.
 * Tests and benchmarks compare our own codec and client with them; src does not use them.
 * Steps: compile the descriptor set; remove custom options and make 64-bit integers strings; generate; `adapt` the output.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FieldDescriptorProto, FileDescriptorSet } from 'google-protobuf/google/protobuf/descriptor_pb.js';
import descriptorPb from 'google-protobuf/google/protobuf/descriptor_pb.js';
import {
  alphaField,
  banner,
  compileProto,
  csiSecret,
  inTemporaryFolder,
  protoc,
  withNested,
} from './generate-proto.js';

const require = createRequire(import.meta.url);
const outDir = fileURLToPath(new URL('../test/generated', import.meta.url));
const descriptorFile = 'google/protobuf/descriptor.proto';
/** Comment for generated files: they do not pass our strict type checks. */
const unchecked = '// @ts-nocheck';

/** Removes custom options from the descriptor set, and makes 64-bit integers strings, so that no digits are lost. */
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
  // Reading the set has dropped options of other types (message, enum, …) already: google-protobuf does not know them.
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

/** Runs protoc-gen-ts. @returns texts of files by path, relative to the output folder */
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
 * Corrects the output of protoc-gen-ts:
 * - imports of generated files end in `.js`, for ESM;
 * - a message field that was not sent reads as `undefined`, also in its type;
 * - map entries without key or value read as '': Rust's prost leaves out empty ones on the wire.
 */
function adapt(path: string, text: string): string {
  const source = text
    .replace(/^\/\*\*[\s\S]*?\*\/\n/, `${banner}\n${unchecked}\n`)
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

/** Lists all files below a folder, sorted, with paths relative to the folder. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

rmSync(outDir, { recursive: true, force: true });
for (const [path, text] of generateClasses(plainSet(compileProto()))) {
  const target = join(outDir, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
}
