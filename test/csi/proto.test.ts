/**
 * Compares proto/csi.proto, as compiled, with the facts of the CSI wire format in test/fixtures/csi-wire.json:
 * all of it, in both directions. Also checks what the generated code owes to them: exact int64, honest absence,
 * the list of secret fields.
 */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type {
  DescriptorProto,
  EnumDescriptorProto,
  FieldDescriptorProto,
  FileDescriptorProto,
  FileDescriptorSet,
  ServiceDescriptorProto,
} from 'google-protobuf/google/protobuf/descriptor_pb.js';
import descriptorPb from 'google-protobuf/google/protobuf/descriptor_pb.js';
import { compileProto, isAlpha, isSecret, messagesOf } from '../../scripts/generate-proto.js';
import { messages } from '../../src/csi/generated/plain.js';
import { csi } from '../generated/csi.js';
import { google } from '../generated/google/protobuf/wrappers.js';
import { wireName } from './plain-values.js';

type Json = string | number | boolean | Json[] | { [key: string]: Json };
interface FieldFacts {
  [key: string]: Json;
}
interface Facts {
  [section: string]: Json;
  package: string;
  extensions: Record<string, Json>;
  services: Record<string, Record<string, string[]>>;
  messages: Record<string, Record<string, FieldFacts>>;
  enums: Record<string, Record<string, number>>;
}

const above2To53 = '9007199254740993';

function readFacts(): Facts {
  const { spec: _prose, ...facts } = JSON.parse(
    readFileSync(new URL('../fixtures/csi-wire.json', import.meta.url), 'utf8'),
  );
  return facts;
}

/** Says the same about compiled descriptors as csi-wire.json says about the format. */
function factsOf(set: FileDescriptorSet): Facts {
  const file = set.getFileList().find((candidate) => candidate.getName() === 'csi.proto');
  if (!file) throw new Error('csi.proto is not in the descriptor set');
  return {
    package: text(file.getPackage()),
    extensions: extensionFacts(file),
    services: Object.fromEntries(file.getServiceList().map((service) => [text(service.getName()), rpcFacts(service)])),
    messages: Object.fromEntries(messagesOf(set).map(([name, message]) => [name, messageFacts(name, message)])),
    enums: Object.fromEntries([
      ...file.getEnumTypeList().map((type) => enumFacts('', type)),
      ...messagesOf(set).flatMap(([name, message]) =>
        message.getEnumTypeList().map((type) => enumFacts(`${name}.`, type)),
      ),
    ]),
  };
}

function extensionFacts(file: FileDescriptorProto): Record<string, Json> {
  const nested = file.getMessageTypeList().flatMap((message) => message.getExtensionList());
  const extensions = [...file.getExtensionList(), ...nested];
  return Object.fromEntries(
    extensions.map((extension) => [
      text(extension.getName()),
      { number: extension.getNumber() ?? 0, extendee: text(extension.getExtendee()).slice(1) },
    ]),
  );
}

function rpcFacts(service: ServiceDescriptorProto): Record<string, string[]> {
  return Object.fromEntries(
    service.getMethodList().map((method) => {
      const streams = [
        ...(method.getClientStreaming() ? ['client-stream'] : []),
        ...(method.getServerStreaming() ? ['server-stream'] : []),
      ];
      return [text(method.getName()), [typeName(method.getInputType()), typeName(method.getOutputType()), ...streams]];
    }),
  );
}

function messageFacts(name: string, message: DescriptorProto): Record<string, FieldFacts> {
  return Object.fromEntries(
    message.getFieldList().map((field) => {
      const map = message
        .getNestedTypeList()
        .find(
          (entry) => entry.getOptions()?.getMapEntry() && field.getTypeName()?.endsWith(`.${name}.${entry.getName()}`),
        );
      const repeated = field.getLabel() === descriptorPb.FieldDescriptorProto.Label.LABEL_REPEATED;
      const oneof = field.hasOneofIndex()
        ? message.getOneofDeclList()[field.getOneofIndex() ?? 0]?.getName()
        : undefined;
      const facts: FieldFacts = {
        number: field.getNumber() ?? 0,
        type: map ? `map<${map.getFieldList().map(fieldType).join(',')}>` : fieldType(field),
        ...(repeated && !map ? { repeated } : {}),
        ...(oneof === undefined ? {} : { oneof }),
        ...(isSecret(field) ? { secret: true } : {}),
        ...(isAlpha(field) ? { alpha: true } : {}),
      };
      return [text(field.getName()), facts];
    }),
  );
}

function enumFacts(outer: string, type: EnumDescriptorProto): [string, Record<string, number>] {
  const values = type.getValueList().map((value) => [text(value.getName()), value.getNumber() ?? 0]);
  return [`${outer}${type.getName()}`, Object.fromEntries(values)];
}

function fieldType(field: FieldDescriptorProto): string {
  if (field.getTypeName()) return typeName(field.getTypeName());
  const scalar = Object.entries(descriptorPb.FieldDescriptorProto.Type).find(([, type]) => type === field.getType());
  return text(scalar?.[0]).replace('TYPE_', '').toLowerCase();
}

/** `.csi.v1.Volume` → `Volume`; names of other packages stay whole. */
function typeName(name: string | undefined): string {
  return text(name).replace(/^\.(csi\.v1\.)?/, '');
}

function text(value: string | undefined): string {
  if (value === undefined) throw new Error('the descriptor lacks a name');
  return value;
}

/** One line for everything that is missing, extra or different; empty when the two are the same. */
function differences(actual: Json | undefined, expected: Json | undefined, path = ''): string[] {
  if (actual === undefined) return [`${path} is missing`];
  if (expected === undefined) return [`${path} is extra`];
  if (typeof actual === 'object' && typeof expected === 'object') {
    const mine = new Map(Object.entries(actual));
    const theirs = new Map(Object.entries(expected));
    const keys = [...new Set([...mine.keys(), ...theirs.keys()])];
    return keys.flatMap((key) => differences(mine.get(key), theirs.get(key), path ? `${path} ${key}` : key));
  }
  return actual === expected ? [] : [`${path} is ${String(actual)}, not ${String(expected)}`];
}

describe('csi.proto', () => {
  const set = compileProto();

  it('matches the facts of the CSI wire format, with nothing missing and nothing extra', () => {
    const facts = readFacts();
    expect(Object.keys(facts)).to.have.members(['package', 'extensions', 'services', 'messages', 'enums']);
    expect(differences(factsOf(set), facts)).to.deep.equal([]);
  });

  it('would be caught if it differed from the facts in any one thing', () => {
    const facts = readFacts();
    const change = (section: Record<string, Json> | undefined, key: string, value?: Json) => {
      if (!section || !(key in section)) throw new Error(`no ${key} to change`);
      if (value === undefined) delete section[key];
      else section[key] = value;
    };
    change(facts.messages.CapacityRange?.limit_bytes, 'number', 3);
    change(facts.messages.VolumeUsage?.total, 'type', 'uint64');
    change(facts.messages.NodeStageVolumeRequest?.secrets, 'secret');
    change(facts.messages.NodeExpandVolumeRequest?.secrets, 'alpha');
    change(facts.messages.VolumeCapability?.block, 'oneof');
    change(facts.messages.GetPluginCapabilitiesResponse?.capabilities, 'repeated');
    change(facts.messages.Topology?.segments, 'type', 'map<string,int64>');
    change(facts.messages, 'VolumeCapability.BlockVolume');
    change(facts.enums['VolumeUsage.Unit'], 'INODES', 3);
    change(facts.services.SnapshotMetadata, 'GetMetadataDelta', [
      'GetMetadataDeltaRequest',
      'GetMetadataDeltaResponse',
    ]);
    change(facts.services, 'GroupController');
    change(facts.extensions, 'csi_secret', { number: 1060, extendee: 'google.protobuf.FieldOptions' });
    facts.messages.ProbeRequest = { deep: { number: 1, type: 'bool' } };

    expect(differences(factsOf(set), facts)).to.have.members([
      'messages CapacityRange limit_bytes number is 2, not 3',
      'messages VolumeUsage total type is int64, not uint64',
      'messages NodeStageVolumeRequest secrets secret is extra',
      'messages NodeExpandVolumeRequest secrets alpha is extra',
      'messages VolumeCapability block oneof is extra',
      'messages GetPluginCapabilitiesResponse capabilities repeated is extra',
      'messages Topology segments type is map<string,string>, not map<string,int64>',
      'messages VolumeCapability.BlockVolume is extra',
      'enums VolumeUsage.Unit INODES is 2, not 3',
      'services SnapshotMetadata GetMetadataDelta 2 is extra',
      'services GroupController is extra',
      'extensions csi_secret number is 1059, not 1060',
      'messages ProbeRequest deep is missing',
    ]);
  });

  it('declares every option as an optional bool', () => {
    const { Label, Type } = descriptorPb.FieldDescriptorProto;
    const extensions =
      set
        .getFileList()
        .find((file) => file.getName() === 'csi.proto')
        ?.getExtensionList() ?? [];
    expect(extensions.length).to.be.greaterThan(0);
    for (const extension of extensions) {
      expect([extension.getType(), extension.getLabel()], extension.getName()).to.deep.equal([
        Type.TYPE_BOOL,
        Label.LABEL_OPTIONAL,
      ]);
    }
  });
});

describe('generated CSI messages', () => {
  it('carry an int64 above 2^53 through encode and decode, every digit', () => {
    const range = new csi.v1.CapacityRange({ required_bytes: above2To53, limit_bytes: '9223372036854775807' });
    const read = csi.v1.CapacityRange.deserialize(range.serialize());
    expect(read.required_bytes).to.equal(above2To53);
    expect(read.limit_bytes).to.equal('9223372036854775807');
  });

  it('carry an Int64Value above 2^53 likewise, and tell 0 from absent', () => {
    const { Int64Value } = google.protobuf;
    const sent = new csi.v1.GetCapacityResponse({
      maximum_volume_size: new Int64Value({ value: above2To53 }),
      minimum_volume_size: new Int64Value(),
    });
    const read = csi.v1.GetCapacityResponse.deserialize(sent.serialize());
    expect(read.maximum_volume_size?.value).to.equal(above2To53);
    expect(read.minimum_volume_size?.value).to.equal('0');
    expect(csi.v1.GetCapacityResponse.deserialize(new Uint8Array()).minimum_volume_size).to.equal(undefined);
  });

  it('read a map entry that leaves out its empty key or value, as some encoders send it', () => {
    const valueLeftOut = [0x1a, 3, 0x0a, 1, 0x61];
    const bothLeftOut = [0x1a, 0];
    const read = csi.v1.GetPluginInfoResponse.deserialize(Uint8Array.from([...valueLeftOut, ...bothLeftOut]));
    expect([...read.manifest]).to.deep.equal([
      ['a', ''],
      ['', ''],
    ]);
  });

  it('list as secret every field that the facts mark secret, and nothing else', () => {
    const secretIn = (fields: Record<string, FieldFacts>) => Object.keys(fields).filter((name) => fields[name]?.secret);
    const expected = Object.entries(readFacts().messages)
      .map(([message, fields]) => [message, secretIn(fields)])
      .filter(([, names]) => names && names.length > 0);
    expect(expected.length).to.be.greaterThan(0);
    const marked = Object.entries(messages).map(([message, fields]) => [
      message,
      fields.flatMap((field) => ('isSecret' in field ? [wireName(field.name)] : [])),
    ]);
    expect(marked.filter(([, names]) => names && names.length > 0)).to.have.deep.members(expected);
  });
});
