/** Makes the text of src/csi/generated/plain.ts: types of CSI's messages as plain data, and tables for codec.ts. */
import type {
  DescriptorProto,
  EnumDescriptorProto,
  FieldDescriptorProto,
  FileDescriptorSet,
} from 'google-protobuf/google/protobuf/descriptor_pb.js';
import descriptorPb from 'google-protobuf/google/protobuf/descriptor_pb.js';

const { Type, Label } = descriptorPb.FieldDescriptorProto;

/** Field in plain data. `kind` is for codec.ts, `type` is the TypeScript type. */
interface Plain {
  kind: string;
  type: string;
  /** Name of the field's message or enum. */
  of?: string;
  /** Absent if it was not sent. Other fields then have their zero value. */
  isOptional: boolean;
}

interface Source {
  package: string;
  enums: Array<[name: string, type: EnumDescriptorProto]>;
  messages: Array<[name: string, message: DescriptorProto]>;
  services: FileDescriptorSet;
  protoFile: string;
  isSecret(field: FieldDescriptorProto): boolean;
}

const scalars = new Map<number, [kind: string, type: string]>([
  [Type.TYPE_STRING, ['string', 'string']],
  [Type.TYPE_BOOL, ['bool', 'boolean']],
  [Type.TYPE_INT32, ['int32', 'number']],
  [Type.TYPE_INT64, ['int64', 'bigint']],
]);

const wellKnown = new Map<string, Plain>([
  ['.google.protobuf.BoolValue', { kind: 'boolValue', type: 'boolean', isOptional: true }],
  ['.google.protobuf.Int64Value', { kind: 'int64Value', type: 'bigint', isOptional: true }],
  ['.google.protobuf.Timestamp', { kind: 'message', type: 'Timestamp', of: 'Timestamp', isOptional: true }],
]);

export function plainSource(source: Source, banner: string): string {
  return [
    banner,
    '/**',
    " * CSI's messages as plain data: field names in camelCase, int64 as bigint, enums by name, maps as records. Messages and",
    ' * wrappers that were not sent are absent; other fields have their zero value. codec.ts converts them.',
    ' */',
    '',
    ...source.enums.flatMap(([name, type]) => enumSource(name, type)),
    'export interface Timestamp {\n  seconds: bigint;\n  nanos: number;\n}\n',
    ...source.messages.map(([name, message]) => interfaceSource(name, message, source)),
    tableSource(source),
    rpcSource(source),
  ].join('\n');
}

/** Makes `OuterInner` of `Outer.Inner`. */
const flat = (name: string): string => name.replaceAll('.', '');
const camel = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
const last = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

function enumSource(name: string, type: EnumDescriptorProto): string[] {
  const names = type.getValueList().map((value) => `'${value.getName()}'`);
  return [
    '/** Values that this version does not know are numbers. */',
    `export type ${flat(name)} = ${names.join(' | ')} | \`\${number}\`;\n`,
  ];
}

function interfaceSource(name: string, message: DescriptorProto, source: Source): string {
  const fields = message.getFieldList().map((field) => {
    const { type, isOptional } = plainOf(field, message, source);
    return `  ${camel(field.getName() ?? '')}${isOptional ? '?' : ''}: ${type};`;
  });
  return fields.length === 0
    ? `export type ${flat(name)} = Record<never, never>;\n`
    : `export interface ${flat(name)} {\n${fields.join('\n')}\n}\n`;
}

function plainOf(field: FieldDescriptorProto, message: DescriptorProto, source: Source): Plain {
  const isRepeated = field.getLabel() === Label.LABEL_REPEATED;
  const typeName = field.getTypeName() ?? '';
  const scalar = scalars.get(field.getType() ?? 0);
  const name = typeName.slice(source.package.length + 2);
  if (isMap(field, message)) return { kind: 'map', type: 'Record<string, string>', isOptional: false };
  const one: Plain | undefined = scalar
    ? { kind: scalar[0], type: scalar[1], isOptional: false }
    : field.getType() === Type.TYPE_ENUM
      ? { kind: 'enum', type: flat(name), of: name, isOptional: false }
      : (wellKnown.get(typeName) ?? { kind: 'message', type: flat(name), of: name, isOptional: true });
  return isRepeated ? { ...one, type: `${one.type}[]`, isOptional: false } : one;
}

const isMap = (field: FieldDescriptorProto, message: DescriptorProto): boolean =>
  message
    .getNestedTypeList()
    .some((nested) => nested.getOptions()?.getMapEntry() && nested.getName() === last(field.getTypeName() ?? ''));

function tableSource(source: Source): string {
  const timestamp = ["{ name: 'seconds', number: 1, kind: 'int64' }", "{ name: 'nanos', number: 2, kind: 'int32' }"];
  const rows = source.messages.map(([name, message]) =>
    messageRow(
      name,
      message.getFieldList().map((field) => fieldRow(field, message, source)),
    ),
  );
  return [
    '/** Fields of each message, by its name without the package. */',
    'export const messages = {',
    messageRow('Timestamp', timestamp),
    ...rows,
    '} as const;\n',
    '/** Numbers of each enum, by its name without the package. */',
    'export const enums = {',
    ...source.enums.map(([name, type]) => enumRow(name, type)),
    '} as const;\n',
  ].join('\n');
}

const messageRow = (name: string, fields: string[]): string =>
  `  '${name}': [${fields.map((field) => `\n    ${field},`).join('')}${fields.length > 0 ? '\n  ' : ''}],`;

function enumRow(name: string, type: EnumDescriptorProto): string {
  const values = type.getValueList().map((value) => `${value.getName()}: ${value.getNumber()}`);
  return `  '${name}': { ${values.join(', ')} },`;
}

function fieldRow(field: FieldDescriptorProto, message: DescriptorProto, source: Source): string {
  const { kind, of } = plainOf(field, message, source);
  const parts = [`name: '${camel(field.getName() ?? '')}'`, `number: ${field.getNumber()}`, `kind: '${kind}'`];
  if (of) parts.push(`of: '${of}'`);
  if (kind !== 'map' && field.getLabel() === Label.LABEL_REPEATED) parts.push('isRepeated: true');
  if (field.hasOneofIndex()) parts.push(`oneof: ${field.getOneofIndex()}`);
  if (source.isSecret(field)) parts.push('isSecret: true');
  return `{ ${parts.join(', ')} }`;
}

function rpcSource({ services, protoFile, package: pkg }: Source): string {
  const file = services.getFileList().find((candidate) => candidate.getName() === protoFile);
  const rpcs = (file?.getServiceList() ?? []).flatMap((service) =>
    service.getMethodList().map((method) => ({
      name: method.getName() ?? '',
      service: service.getName() ?? '',
      request: last(method.getInputType() ?? ''),
      response: last(method.getOutputType() ?? ''),
      streams: method.getServerStreaming() ?? false,
    })),
  );
  return [
    '/** Request and response of each RPC. */',
    'export interface Rpcs {',
    ...rpcs.map(({ name, request, response }) => `  ${name}: { request: ${request}; response: ${response} };`),
    '}\n',
    '/** Service and path of each RPC. RPCs that stream answer with any number of messages. */',
    'export const rpcs = {',
    ...rpcs.map(
      ({ name, service, request, response, streams }) =>
        `  ${name}: { service: '${service}', path: '/${pkg}.${service}/${name}', request: '${request}', response: '${response}', streams: ${streams} },`,
    ),
    '} as const;',
    '',
  ].join('\n');
}
