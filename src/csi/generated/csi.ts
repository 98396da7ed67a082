// Generated, do not edit: npm run generate
import * as dependency_1 from "./google/protobuf/timestamp.js";
import * as dependency_2 from "./google/protobuf/wrappers.js";
import * as pb_1 from "google-protobuf";
import * as grpc_1 from "@grpc/grpc-js";
export namespace csi.v1 {
    export enum BlockMetadataType {
        UNKNOWN = 0,
        FIXED_LENGTH = 1,
        VARIABLE_LENGTH = 2
    }
    export class GetPluginInfoRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {}) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") { }
        }
        static fromObject(data: {}): GetPluginInfoRequest {
            const message = new GetPluginInfoRequest({});
            return message;
        }
        toObject() {
            const data: {} = {};
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): GetPluginInfoRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new GetPluginInfoRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): GetPluginInfoRequest {
            return GetPluginInfoRequest.deserialize(bytes);
        }
    }
    export class GetPluginInfoResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            name?: string;
            vendor_version?: string;
            manifest?: Map<string, string>;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("name" in data && data.name != undefined) {
                    this.name = data.name;
                }
                if ("vendor_version" in data && data.vendor_version != undefined) {
                    this.vendor_version = data.vendor_version;
                }
                if ("manifest" in data && data.manifest != undefined) {
                    this.manifest = data.manifest;
                }
            }
            if (!this.manifest)
                this.manifest = new Map();
        }
        get name() {
            return pb_1.Message.getFieldWithDefault(this, 1, "") as string;
        }
        set name(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get vendor_version() {
            return pb_1.Message.getFieldWithDefault(this, 2, "") as string;
        }
        set vendor_version(value: string) {
            pb_1.Message.setField(this, 2, value);
        }
        get manifest() {
            return pb_1.Message.getField(this, 3) as any as Map<string, string>;
        }
        set manifest(value: Map<string, string>) {
            pb_1.Message.setField(this, 3, value as any);
        }
        static fromObject(data: {
            name?: string;
            vendor_version?: string;
            manifest?: {
                [key: string]: string;
            };
        }): GetPluginInfoResponse {
            const message = new GetPluginInfoResponse({});
            if (data.name != null) {
                message.name = data.name;
            }
            if (data.vendor_version != null) {
                message.vendor_version = data.vendor_version;
            }
            if (typeof data.manifest == "object") {
                message.manifest = new Map(Object.entries(data.manifest));
            }
            return message;
        }
        toObject() {
            const data: {
                name?: string;
                vendor_version?: string;
                manifest?: {
                    [key: string]: string;
                };
            } = {};
            if (this.name != null) {
                data.name = this.name;
            }
            if (this.vendor_version != null) {
                data.vendor_version = this.vendor_version;
            }
            if (this.manifest != null) {
                data.manifest = (Object.fromEntries)(this.manifest);
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.name.length)
                writer.writeString(1, this.name);
            if (this.vendor_version.length)
                writer.writeString(2, this.vendor_version);
            for (const [key, value] of this.manifest) {
                writer.writeMessage(3, this.manifest, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): GetPluginInfoResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new GetPluginInfoResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.name = reader.readString();
                        break;
                    case 2:
                        message.vendor_version = reader.readString();
                        break;
                    case 3:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.manifest as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): GetPluginInfoResponse {
            return GetPluginInfoResponse.deserialize(bytes);
        }
    }
    export class GetPluginCapabilitiesRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {}) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") { }
        }
        static fromObject(data: {}): GetPluginCapabilitiesRequest {
            const message = new GetPluginCapabilitiesRequest({});
            return message;
        }
        toObject() {
            const data: {} = {};
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): GetPluginCapabilitiesRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new GetPluginCapabilitiesRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): GetPluginCapabilitiesRequest {
            return GetPluginCapabilitiesRequest.deserialize(bytes);
        }
    }
    export class GetPluginCapabilitiesResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            capabilities?: PluginCapability[];
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [1], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("capabilities" in data && data.capabilities != undefined) {
                    this.capabilities = data.capabilities;
                }
            }
        }
        get capabilities() {
            return pb_1.Message.getRepeatedWrapperField(this, PluginCapability, 1) as PluginCapability[];
        }
        set capabilities(value: PluginCapability[]) {
            pb_1.Message.setRepeatedWrapperField(this, 1, value);
        }
        static fromObject(data: {
            capabilities?: ReturnType<typeof PluginCapability.prototype.toObject>[];
        }): GetPluginCapabilitiesResponse {
            const message = new GetPluginCapabilitiesResponse({});
            if (data.capabilities != null) {
                message.capabilities = data.capabilities.map(item => PluginCapability.fromObject(item));
            }
            return message;
        }
        toObject() {
            const data: {
                capabilities?: ReturnType<typeof PluginCapability.prototype.toObject>[];
            } = {};
            if (this.capabilities != null) {
                data.capabilities = this.capabilities.map((item: PluginCapability) => item.toObject());
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.capabilities.length)
                writer.writeRepeatedMessage(1, this.capabilities, (item: PluginCapability) => item.serialize(writer));
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): GetPluginCapabilitiesResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new GetPluginCapabilitiesResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        reader.readMessage(message.capabilities, () => pb_1.Message.addToRepeatedWrapperField(message, 1, PluginCapability.deserialize(reader), PluginCapability));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): GetPluginCapabilitiesResponse {
            return GetPluginCapabilitiesResponse.deserialize(bytes);
        }
    }
    export class PluginCapability extends pb_1.Message {
        #one_of_decls: number[][] = [[1, 2]];
        constructor(data?: any[] | ({} & (({
            service?: PluginCapability.Service;
            volume_expansion?: never;
        } | {
            service?: never;
            volume_expansion?: PluginCapability.VolumeExpansion;
        })))) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("service" in data && data.service != undefined) {
                    this.service = data.service;
                }
                if ("volume_expansion" in data && data.volume_expansion != undefined) {
                    this.volume_expansion = data.volume_expansion;
                }
            }
        }
        get service(): PluginCapability.Service | undefined {
            return pb_1.Message.getWrapperField(this, PluginCapability.Service, 1) as PluginCapability.Service | undefined;
        }
        set service(value: PluginCapability.Service) {
            pb_1.Message.setOneofWrapperField(this, 1, this.#one_of_decls[0], value);
        }
        get has_service() {
            return pb_1.Message.getField(this, 1) != null;
        }
        get volume_expansion(): PluginCapability.VolumeExpansion | undefined {
            return pb_1.Message.getWrapperField(this, PluginCapability.VolumeExpansion, 2) as PluginCapability.VolumeExpansion | undefined;
        }
        set volume_expansion(value: PluginCapability.VolumeExpansion) {
            pb_1.Message.setOneofWrapperField(this, 2, this.#one_of_decls[0], value);
        }
        get has_volume_expansion() {
            return pb_1.Message.getField(this, 2) != null;
        }
        get type() {
            const cases: {
                [index: number]: "none" | "service" | "volume_expansion";
            } = {
                0: "none",
                1: "service",
                2: "volume_expansion"
            };
            return cases[pb_1.Message.computeOneofCase(this, [1, 2])];
        }
        static fromObject(data: {
            service?: ReturnType<typeof PluginCapability.Service.prototype.toObject>;
            volume_expansion?: ReturnType<typeof PluginCapability.VolumeExpansion.prototype.toObject>;
        }): PluginCapability {
            const message = new PluginCapability({});
            if (data.service != null) {
                message.service = PluginCapability.Service.fromObject(data.service);
            }
            if (data.volume_expansion != null) {
                message.volume_expansion = PluginCapability.VolumeExpansion.fromObject(data.volume_expansion);
            }
            return message;
        }
        toObject() {
            const data: {
                service?: ReturnType<typeof PluginCapability.Service.prototype.toObject>;
                volume_expansion?: ReturnType<typeof PluginCapability.VolumeExpansion.prototype.toObject>;
            } = {};
            if (this.service != null) {
                data.service = this.service.toObject();
            }
            if (this.volume_expansion != null) {
                data.volume_expansion = this.volume_expansion.toObject();
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.has_service)
                writer.writeMessage(1, this.service, () => this.service?.serialize(writer));
            if (this.has_volume_expansion)
                writer.writeMessage(2, this.volume_expansion, () => this.volume_expansion?.serialize(writer));
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): PluginCapability {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new PluginCapability();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        reader.readMessage(message.service, () => message.service = PluginCapability.Service.deserialize(reader));
                        break;
                    case 2:
                        reader.readMessage(message.volume_expansion, () => message.volume_expansion = PluginCapability.VolumeExpansion.deserialize(reader));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): PluginCapability {
            return PluginCapability.deserialize(bytes);
        }
    }
    export namespace PluginCapability {
        export class Service extends pb_1.Message {
            #one_of_decls: number[][] = [];
            constructor(data?: any[] | {
                type?: PluginCapability.Service.Type;
            }) {
                super();
                pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
                if (!Array.isArray(data) && typeof data == "object") {
                    if ("type" in data && data.type != undefined) {
                        this.type = data.type;
                    }
                }
            }
            get type() {
                return pb_1.Message.getFieldWithDefault(this, 1, PluginCapability.Service.Type.UNKNOWN) as PluginCapability.Service.Type;
            }
            set type(value: PluginCapability.Service.Type) {
                pb_1.Message.setField(this, 1, value);
            }
            static fromObject(data: {
                type?: PluginCapability.Service.Type;
            }): Service {
                const message = new Service({});
                if (data.type != null) {
                    message.type = data.type;
                }
                return message;
            }
            toObject() {
                const data: {
                    type?: PluginCapability.Service.Type;
                } = {};
                if (this.type != null) {
                    data.type = this.type;
                }
                return data;
            }
            serialize(): Uint8Array;
            serialize(w: pb_1.BinaryWriter): void;
            serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
                const writer = w || new pb_1.BinaryWriter();
                if (this.type != PluginCapability.Service.Type.UNKNOWN)
                    writer.writeEnum(1, this.type);
                if (!w)
                    return writer.getResultBuffer();
            }
            static deserialize(bytes: Uint8Array | pb_1.BinaryReader): Service {
                const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new Service();
                while (reader.nextField()) {
                    if (reader.isEndGroup())
                        break;
                    switch (reader.getFieldNumber()) {
                        case 1:
                            message.type = reader.readEnum();
                            break;
                        default: reader.skipField();
                    }
                }
                return message;
            }
            serializeBinary(): Uint8Array {
                return this.serialize();
            }
            static override deserializeBinary(bytes: Uint8Array): Service {
                return Service.deserialize(bytes);
            }
        }
        export namespace Service {
            export enum Type {
                UNKNOWN = 0,
                CONTROLLER_SERVICE = 1,
                VOLUME_ACCESSIBILITY_CONSTRAINTS = 2,
                GROUP_CONTROLLER_SERVICE = 3,
                SNAPSHOT_METADATA_SERVICE = 4
            }
        }
        export class VolumeExpansion extends pb_1.Message {
            #one_of_decls: number[][] = [];
            constructor(data?: any[] | {
                type?: PluginCapability.VolumeExpansion.Type;
            }) {
                super();
                pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
                if (!Array.isArray(data) && typeof data == "object") {
                    if ("type" in data && data.type != undefined) {
                        this.type = data.type;
                    }
                }
            }
            get type() {
                return pb_1.Message.getFieldWithDefault(this, 1, PluginCapability.VolumeExpansion.Type.UNKNOWN) as PluginCapability.VolumeExpansion.Type;
            }
            set type(value: PluginCapability.VolumeExpansion.Type) {
                pb_1.Message.setField(this, 1, value);
            }
            static fromObject(data: {
                type?: PluginCapability.VolumeExpansion.Type;
            }): VolumeExpansion {
                const message = new VolumeExpansion({});
                if (data.type != null) {
                    message.type = data.type;
                }
                return message;
            }
            toObject() {
                const data: {
                    type?: PluginCapability.VolumeExpansion.Type;
                } = {};
                if (this.type != null) {
                    data.type = this.type;
                }
                return data;
            }
            serialize(): Uint8Array;
            serialize(w: pb_1.BinaryWriter): void;
            serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
                const writer = w || new pb_1.BinaryWriter();
                if (this.type != PluginCapability.VolumeExpansion.Type.UNKNOWN)
                    writer.writeEnum(1, this.type);
                if (!w)
                    return writer.getResultBuffer();
            }
            static deserialize(bytes: Uint8Array | pb_1.BinaryReader): VolumeExpansion {
                const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new VolumeExpansion();
                while (reader.nextField()) {
                    if (reader.isEndGroup())
                        break;
                    switch (reader.getFieldNumber()) {
                        case 1:
                            message.type = reader.readEnum();
                            break;
                        default: reader.skipField();
                    }
                }
                return message;
            }
            serializeBinary(): Uint8Array {
                return this.serialize();
            }
            static override deserializeBinary(bytes: Uint8Array): VolumeExpansion {
                return VolumeExpansion.deserialize(bytes);
            }
        }
        export namespace VolumeExpansion {
            export enum Type {
                UNKNOWN = 0,
                ONLINE = 1,
                OFFLINE = 2
            }
        }
    }
    export class ProbeRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {}) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") { }
        }
        static fromObject(data: {}): ProbeRequest {
            const message = new ProbeRequest({});
            return message;
        }
        toObject() {
            const data: {} = {};
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): ProbeRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new ProbeRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): ProbeRequest {
            return ProbeRequest.deserialize(bytes);
        }
    }
    export class ProbeResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            ready?: dependency_2.google.protobuf.BoolValue;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("ready" in data && data.ready != undefined) {
                    this.ready = data.ready;
                }
            }
        }
        get ready(): dependency_2.google.protobuf.BoolValue | undefined {
            return pb_1.Message.getWrapperField(this, dependency_2.google.protobuf.BoolValue, 1) as dependency_2.google.protobuf.BoolValue | undefined;
        }
        set ready(value: dependency_2.google.protobuf.BoolValue) {
            pb_1.Message.setWrapperField(this, 1, value);
        }
        get has_ready() {
            return pb_1.Message.getField(this, 1) != null;
        }
        static fromObject(data: {
            ready?: ReturnType<typeof dependency_2.google.protobuf.BoolValue.prototype.toObject>;
        }): ProbeResponse {
            const message = new ProbeResponse({});
            if (data.ready != null) {
                message.ready = dependency_2.google.protobuf.BoolValue.fromObject(data.ready);
            }
            return message;
        }
        toObject() {
            const data: {
                ready?: ReturnType<typeof dependency_2.google.protobuf.BoolValue.prototype.toObject>;
            } = {};
            if (this.ready != null) {
                data.ready = this.ready.toObject();
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.has_ready)
                writer.writeMessage(1, this.ready, () => this.ready?.serialize(writer));
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): ProbeResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new ProbeResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        reader.readMessage(message.ready, () => message.ready = dependency_2.google.protobuf.BoolValue.deserialize(reader));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): ProbeResponse {
            return ProbeResponse.deserialize(bytes);
        }
    }
    export class CreateVolumeRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            name?: string;
            capacity_range?: CapacityRange;
            volume_capabilities?: VolumeCapability[];
            parameters?: Map<string, string>;
            secrets?: Map<string, string>;
            volume_content_source?: VolumeContentSource;
            accessibility_requirements?: TopologyRequirement;
            mutable_parameters?: Map<string, string>;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [3], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("name" in data && data.name != undefined) {
                    this.name = data.name;
                }
                if ("capacity_range" in data && data.capacity_range != undefined) {
                    this.capacity_range = data.capacity_range;
                }
                if ("volume_capabilities" in data && data.volume_capabilities != undefined) {
                    this.volume_capabilities = data.volume_capabilities;
                }
                if ("parameters" in data && data.parameters != undefined) {
                    this.parameters = data.parameters;
                }
                if ("secrets" in data && data.secrets != undefined) {
                    this.secrets = data.secrets;
                }
                if ("volume_content_source" in data && data.volume_content_source != undefined) {
                    this.volume_content_source = data.volume_content_source;
                }
                if ("accessibility_requirements" in data && data.accessibility_requirements != undefined) {
                    this.accessibility_requirements = data.accessibility_requirements;
                }
                if ("mutable_parameters" in data && data.mutable_parameters != undefined) {
                    this.mutable_parameters = data.mutable_parameters;
                }
            }
            if (!this.parameters)
                this.parameters = new Map();
            if (!this.secrets)
                this.secrets = new Map();
            if (!this.mutable_parameters)
                this.mutable_parameters = new Map();
        }
        get name() {
            return pb_1.Message.getFieldWithDefault(this, 1, "") as string;
        }
        set name(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get capacity_range(): CapacityRange | undefined {
            return pb_1.Message.getWrapperField(this, CapacityRange, 2) as CapacityRange | undefined;
        }
        set capacity_range(value: CapacityRange) {
            pb_1.Message.setWrapperField(this, 2, value);
        }
        get has_capacity_range() {
            return pb_1.Message.getField(this, 2) != null;
        }
        get volume_capabilities() {
            return pb_1.Message.getRepeatedWrapperField(this, VolumeCapability, 3) as VolumeCapability[];
        }
        set volume_capabilities(value: VolumeCapability[]) {
            pb_1.Message.setRepeatedWrapperField(this, 3, value);
        }
        get parameters() {
            return pb_1.Message.getField(this, 4) as any as Map<string, string>;
        }
        set parameters(value: Map<string, string>) {
            pb_1.Message.setField(this, 4, value as any);
        }
        get secrets() {
            return pb_1.Message.getField(this, 5) as any as Map<string, string>;
        }
        set secrets(value: Map<string, string>) {
            pb_1.Message.setField(this, 5, value as any);
        }
        get volume_content_source(): VolumeContentSource | undefined {
            return pb_1.Message.getWrapperField(this, VolumeContentSource, 6) as VolumeContentSource | undefined;
        }
        set volume_content_source(value: VolumeContentSource) {
            pb_1.Message.setWrapperField(this, 6, value);
        }
        get has_volume_content_source() {
            return pb_1.Message.getField(this, 6) != null;
        }
        get accessibility_requirements(): TopologyRequirement | undefined {
            return pb_1.Message.getWrapperField(this, TopologyRequirement, 7) as TopologyRequirement | undefined;
        }
        set accessibility_requirements(value: TopologyRequirement) {
            pb_1.Message.setWrapperField(this, 7, value);
        }
        get has_accessibility_requirements() {
            return pb_1.Message.getField(this, 7) != null;
        }
        get mutable_parameters() {
            return pb_1.Message.getField(this, 8) as any as Map<string, string>;
        }
        set mutable_parameters(value: Map<string, string>) {
            pb_1.Message.setField(this, 8, value as any);
        }
        static fromObject(data: {
            name?: string;
            capacity_range?: ReturnType<typeof CapacityRange.prototype.toObject>;
            volume_capabilities?: ReturnType<typeof VolumeCapability.prototype.toObject>[];
            parameters?: {
                [key: string]: string;
            };
            secrets?: {
                [key: string]: string;
            };
            volume_content_source?: ReturnType<typeof VolumeContentSource.prototype.toObject>;
            accessibility_requirements?: ReturnType<typeof TopologyRequirement.prototype.toObject>;
            mutable_parameters?: {
                [key: string]: string;
            };
        }): CreateVolumeRequest {
            const message = new CreateVolumeRequest({});
            if (data.name != null) {
                message.name = data.name;
            }
            if (data.capacity_range != null) {
                message.capacity_range = CapacityRange.fromObject(data.capacity_range);
            }
            if (data.volume_capabilities != null) {
                message.volume_capabilities = data.volume_capabilities.map(item => VolumeCapability.fromObject(item));
            }
            if (typeof data.parameters == "object") {
                message.parameters = new Map(Object.entries(data.parameters));
            }
            if (typeof data.secrets == "object") {
                message.secrets = new Map(Object.entries(data.secrets));
            }
            if (data.volume_content_source != null) {
                message.volume_content_source = VolumeContentSource.fromObject(data.volume_content_source);
            }
            if (data.accessibility_requirements != null) {
                message.accessibility_requirements = TopologyRequirement.fromObject(data.accessibility_requirements);
            }
            if (typeof data.mutable_parameters == "object") {
                message.mutable_parameters = new Map(Object.entries(data.mutable_parameters));
            }
            return message;
        }
        toObject() {
            const data: {
                name?: string;
                capacity_range?: ReturnType<typeof CapacityRange.prototype.toObject>;
                volume_capabilities?: ReturnType<typeof VolumeCapability.prototype.toObject>[];
                parameters?: {
                    [key: string]: string;
                };
                secrets?: {
                    [key: string]: string;
                };
                volume_content_source?: ReturnType<typeof VolumeContentSource.prototype.toObject>;
                accessibility_requirements?: ReturnType<typeof TopologyRequirement.prototype.toObject>;
                mutable_parameters?: {
                    [key: string]: string;
                };
            } = {};
            if (this.name != null) {
                data.name = this.name;
            }
            if (this.capacity_range != null) {
                data.capacity_range = this.capacity_range.toObject();
            }
            if (this.volume_capabilities != null) {
                data.volume_capabilities = this.volume_capabilities.map((item: VolumeCapability) => item.toObject());
            }
            if (this.parameters != null) {
                data.parameters = (Object.fromEntries)(this.parameters);
            }
            if (this.secrets != null) {
                data.secrets = (Object.fromEntries)(this.secrets);
            }
            if (this.volume_content_source != null) {
                data.volume_content_source = this.volume_content_source.toObject();
            }
            if (this.accessibility_requirements != null) {
                data.accessibility_requirements = this.accessibility_requirements.toObject();
            }
            if (this.mutable_parameters != null) {
                data.mutable_parameters = (Object.fromEntries)(this.mutable_parameters);
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.name.length)
                writer.writeString(1, this.name);
            if (this.has_capacity_range)
                writer.writeMessage(2, this.capacity_range, () => this.capacity_range?.serialize(writer));
            if (this.volume_capabilities.length)
                writer.writeRepeatedMessage(3, this.volume_capabilities, (item: VolumeCapability) => item.serialize(writer));
            for (const [key, value] of this.parameters) {
                writer.writeMessage(4, this.parameters, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            for (const [key, value] of this.secrets) {
                writer.writeMessage(5, this.secrets, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            if (this.has_volume_content_source)
                writer.writeMessage(6, this.volume_content_source, () => this.volume_content_source?.serialize(writer));
            if (this.has_accessibility_requirements)
                writer.writeMessage(7, this.accessibility_requirements, () => this.accessibility_requirements?.serialize(writer));
            for (const [key, value] of this.mutable_parameters) {
                writer.writeMessage(8, this.mutable_parameters, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): CreateVolumeRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new CreateVolumeRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.name = reader.readString();
                        break;
                    case 2:
                        reader.readMessage(message.capacity_range, () => message.capacity_range = CapacityRange.deserialize(reader));
                        break;
                    case 3:
                        reader.readMessage(message.volume_capabilities, () => pb_1.Message.addToRepeatedWrapperField(message, 3, VolumeCapability.deserialize(reader), VolumeCapability));
                        break;
                    case 4:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.parameters as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    case 5:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.secrets as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    case 6:
                        reader.readMessage(message.volume_content_source, () => message.volume_content_source = VolumeContentSource.deserialize(reader));
                        break;
                    case 7:
                        reader.readMessage(message.accessibility_requirements, () => message.accessibility_requirements = TopologyRequirement.deserialize(reader));
                        break;
                    case 8:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.mutable_parameters as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): CreateVolumeRequest {
            return CreateVolumeRequest.deserialize(bytes);
        }
    }
    export class VolumeContentSource extends pb_1.Message {
        #one_of_decls: number[][] = [[1, 2]];
        constructor(data?: any[] | ({} & (({
            snapshot?: VolumeContentSource.SnapshotSource;
            volume?: never;
        } | {
            snapshot?: never;
            volume?: VolumeContentSource.VolumeSource;
        })))) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("snapshot" in data && data.snapshot != undefined) {
                    this.snapshot = data.snapshot;
                }
                if ("volume" in data && data.volume != undefined) {
                    this.volume = data.volume;
                }
            }
        }
        get snapshot(): VolumeContentSource.SnapshotSource | undefined {
            return pb_1.Message.getWrapperField(this, VolumeContentSource.SnapshotSource, 1) as VolumeContentSource.SnapshotSource | undefined;
        }
        set snapshot(value: VolumeContentSource.SnapshotSource) {
            pb_1.Message.setOneofWrapperField(this, 1, this.#one_of_decls[0], value);
        }
        get has_snapshot() {
            return pb_1.Message.getField(this, 1) != null;
        }
        get volume(): VolumeContentSource.VolumeSource | undefined {
            return pb_1.Message.getWrapperField(this, VolumeContentSource.VolumeSource, 2) as VolumeContentSource.VolumeSource | undefined;
        }
        set volume(value: VolumeContentSource.VolumeSource) {
            pb_1.Message.setOneofWrapperField(this, 2, this.#one_of_decls[0], value);
        }
        get has_volume() {
            return pb_1.Message.getField(this, 2) != null;
        }
        get type() {
            const cases: {
                [index: number]: "none" | "snapshot" | "volume";
            } = {
                0: "none",
                1: "snapshot",
                2: "volume"
            };
            return cases[pb_1.Message.computeOneofCase(this, [1, 2])];
        }
        static fromObject(data: {
            snapshot?: ReturnType<typeof VolumeContentSource.SnapshotSource.prototype.toObject>;
            volume?: ReturnType<typeof VolumeContentSource.VolumeSource.prototype.toObject>;
        }): VolumeContentSource {
            const message = new VolumeContentSource({});
            if (data.snapshot != null) {
                message.snapshot = VolumeContentSource.SnapshotSource.fromObject(data.snapshot);
            }
            if (data.volume != null) {
                message.volume = VolumeContentSource.VolumeSource.fromObject(data.volume);
            }
            return message;
        }
        toObject() {
            const data: {
                snapshot?: ReturnType<typeof VolumeContentSource.SnapshotSource.prototype.toObject>;
                volume?: ReturnType<typeof VolumeContentSource.VolumeSource.prototype.toObject>;
            } = {};
            if (this.snapshot != null) {
                data.snapshot = this.snapshot.toObject();
            }
            if (this.volume != null) {
                data.volume = this.volume.toObject();
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.has_snapshot)
                writer.writeMessage(1, this.snapshot, () => this.snapshot?.serialize(writer));
            if (this.has_volume)
                writer.writeMessage(2, this.volume, () => this.volume?.serialize(writer));
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): VolumeContentSource {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new VolumeContentSource();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        reader.readMessage(message.snapshot, () => message.snapshot = VolumeContentSource.SnapshotSource.deserialize(reader));
                        break;
                    case 2:
                        reader.readMessage(message.volume, () => message.volume = VolumeContentSource.VolumeSource.deserialize(reader));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): VolumeContentSource {
            return VolumeContentSource.deserialize(bytes);
        }
    }
    export namespace VolumeContentSource {
        export class SnapshotSource extends pb_1.Message {
            #one_of_decls: number[][] = [];
            constructor(data?: any[] | {
                snapshot_id?: string;
            }) {
                super();
                pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
                if (!Array.isArray(data) && typeof data == "object") {
                    if ("snapshot_id" in data && data.snapshot_id != undefined) {
                        this.snapshot_id = data.snapshot_id;
                    }
                }
            }
            get snapshot_id() {
                return pb_1.Message.getFieldWithDefault(this, 1, "") as string;
            }
            set snapshot_id(value: string) {
                pb_1.Message.setField(this, 1, value);
            }
            static fromObject(data: {
                snapshot_id?: string;
            }): SnapshotSource {
                const message = new SnapshotSource({});
                if (data.snapshot_id != null) {
                    message.snapshot_id = data.snapshot_id;
                }
                return message;
            }
            toObject() {
                const data: {
                    snapshot_id?: string;
                } = {};
                if (this.snapshot_id != null) {
                    data.snapshot_id = this.snapshot_id;
                }
                return data;
            }
            serialize(): Uint8Array;
            serialize(w: pb_1.BinaryWriter): void;
            serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
                const writer = w || new pb_1.BinaryWriter();
                if (this.snapshot_id.length)
                    writer.writeString(1, this.snapshot_id);
                if (!w)
                    return writer.getResultBuffer();
            }
            static deserialize(bytes: Uint8Array | pb_1.BinaryReader): SnapshotSource {
                const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new SnapshotSource();
                while (reader.nextField()) {
                    if (reader.isEndGroup())
                        break;
                    switch (reader.getFieldNumber()) {
                        case 1:
                            message.snapshot_id = reader.readString();
                            break;
                        default: reader.skipField();
                    }
                }
                return message;
            }
            serializeBinary(): Uint8Array {
                return this.serialize();
            }
            static override deserializeBinary(bytes: Uint8Array): SnapshotSource {
                return SnapshotSource.deserialize(bytes);
            }
        }
        export class VolumeSource extends pb_1.Message {
            #one_of_decls: number[][] = [];
            constructor(data?: any[] | {
                volume_id?: string;
            }) {
                super();
                pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
                if (!Array.isArray(data) && typeof data == "object") {
                    if ("volume_id" in data && data.volume_id != undefined) {
                        this.volume_id = data.volume_id;
                    }
                }
            }
            get volume_id() {
                return pb_1.Message.getFieldWithDefault(this, 1, "") as string;
            }
            set volume_id(value: string) {
                pb_1.Message.setField(this, 1, value);
            }
            static fromObject(data: {
                volume_id?: string;
            }): VolumeSource {
                const message = new VolumeSource({});
                if (data.volume_id != null) {
                    message.volume_id = data.volume_id;
                }
                return message;
            }
            toObject() {
                const data: {
                    volume_id?: string;
                } = {};
                if (this.volume_id != null) {
                    data.volume_id = this.volume_id;
                }
                return data;
            }
            serialize(): Uint8Array;
            serialize(w: pb_1.BinaryWriter): void;
            serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
                const writer = w || new pb_1.BinaryWriter();
                if (this.volume_id.length)
                    writer.writeString(1, this.volume_id);
                if (!w)
                    return writer.getResultBuffer();
            }
            static deserialize(bytes: Uint8Array | pb_1.BinaryReader): VolumeSource {
                const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new VolumeSource();
                while (reader.nextField()) {
                    if (reader.isEndGroup())
                        break;
                    switch (reader.getFieldNumber()) {
                        case 1:
                            message.volume_id = reader.readString();
                            break;
                        default: reader.skipField();
                    }
                }
                return message;
            }
            serializeBinary(): Uint8Array {
                return this.serialize();
            }
            static override deserializeBinary(bytes: Uint8Array): VolumeSource {
                return VolumeSource.deserialize(bytes);
            }
        }
    }
    export class CreateVolumeResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            volume?: Volume;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("volume" in data && data.volume != undefined) {
                    this.volume = data.volume;
                }
            }
        }
        get volume(): Volume | undefined {
            return pb_1.Message.getWrapperField(this, Volume, 1) as Volume | undefined;
        }
        set volume(value: Volume) {
            pb_1.Message.setWrapperField(this, 1, value);
        }
        get has_volume() {
            return pb_1.Message.getField(this, 1) != null;
        }
        static fromObject(data: {
            volume?: ReturnType<typeof Volume.prototype.toObject>;
        }): CreateVolumeResponse {
            const message = new CreateVolumeResponse({});
            if (data.volume != null) {
                message.volume = Volume.fromObject(data.volume);
            }
            return message;
        }
        toObject() {
            const data: {
                volume?: ReturnType<typeof Volume.prototype.toObject>;
            } = {};
            if (this.volume != null) {
                data.volume = this.volume.toObject();
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.has_volume)
                writer.writeMessage(1, this.volume, () => this.volume?.serialize(writer));
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): CreateVolumeResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new CreateVolumeResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        reader.readMessage(message.volume, () => message.volume = Volume.deserialize(reader));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): CreateVolumeResponse {
            return CreateVolumeResponse.deserialize(bytes);
        }
    }
    export class VolumeCapability extends pb_1.Message {
        #one_of_decls: number[][] = [[1, 2]];
        constructor(data?: any[] | ({
            access_mode?: VolumeCapability.AccessMode;
        } & (({
            block?: VolumeCapability.BlockVolume;
            mount?: never;
        } | {
            block?: never;
            mount?: VolumeCapability.MountVolume;
        })))) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("block" in data && data.block != undefined) {
                    this.block = data.block;
                }
                if ("mount" in data && data.mount != undefined) {
                    this.mount = data.mount;
                }
                if ("access_mode" in data && data.access_mode != undefined) {
                    this.access_mode = data.access_mode;
                }
            }
        }
        get block(): VolumeCapability.BlockVolume | undefined {
            return pb_1.Message.getWrapperField(this, VolumeCapability.BlockVolume, 1) as VolumeCapability.BlockVolume | undefined;
        }
        set block(value: VolumeCapability.BlockVolume) {
            pb_1.Message.setOneofWrapperField(this, 1, this.#one_of_decls[0], value);
        }
        get has_block() {
            return pb_1.Message.getField(this, 1) != null;
        }
        get mount(): VolumeCapability.MountVolume | undefined {
            return pb_1.Message.getWrapperField(this, VolumeCapability.MountVolume, 2) as VolumeCapability.MountVolume | undefined;
        }
        set mount(value: VolumeCapability.MountVolume) {
            pb_1.Message.setOneofWrapperField(this, 2, this.#one_of_decls[0], value);
        }
        get has_mount() {
            return pb_1.Message.getField(this, 2) != null;
        }
        get access_mode(): VolumeCapability.AccessMode | undefined {
            return pb_1.Message.getWrapperField(this, VolumeCapability.AccessMode, 3) as VolumeCapability.AccessMode | undefined;
        }
        set access_mode(value: VolumeCapability.AccessMode) {
            pb_1.Message.setWrapperField(this, 3, value);
        }
        get has_access_mode() {
            return pb_1.Message.getField(this, 3) != null;
        }
        get access_type() {
            const cases: {
                [index: number]: "none" | "block" | "mount";
            } = {
                0: "none",
                1: "block",
                2: "mount"
            };
            return cases[pb_1.Message.computeOneofCase(this, [1, 2])];
        }
        static fromObject(data: {
            block?: ReturnType<typeof VolumeCapability.BlockVolume.prototype.toObject>;
            mount?: ReturnType<typeof VolumeCapability.MountVolume.prototype.toObject>;
            access_mode?: ReturnType<typeof VolumeCapability.AccessMode.prototype.toObject>;
        }): VolumeCapability {
            const message = new VolumeCapability({});
            if (data.block != null) {
                message.block = VolumeCapability.BlockVolume.fromObject(data.block);
            }
            if (data.mount != null) {
                message.mount = VolumeCapability.MountVolume.fromObject(data.mount);
            }
            if (data.access_mode != null) {
                message.access_mode = VolumeCapability.AccessMode.fromObject(data.access_mode);
            }
            return message;
        }
        toObject() {
            const data: {
                block?: ReturnType<typeof VolumeCapability.BlockVolume.prototype.toObject>;
                mount?: ReturnType<typeof VolumeCapability.MountVolume.prototype.toObject>;
                access_mode?: ReturnType<typeof VolumeCapability.AccessMode.prototype.toObject>;
            } = {};
            if (this.block != null) {
                data.block = this.block.toObject();
            }
            if (this.mount != null) {
                data.mount = this.mount.toObject();
            }
            if (this.access_mode != null) {
                data.access_mode = this.access_mode.toObject();
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.has_block)
                writer.writeMessage(1, this.block, () => this.block?.serialize(writer));
            if (this.has_mount)
                writer.writeMessage(2, this.mount, () => this.mount?.serialize(writer));
            if (this.has_access_mode)
                writer.writeMessage(3, this.access_mode, () => this.access_mode?.serialize(writer));
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): VolumeCapability {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new VolumeCapability();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        reader.readMessage(message.block, () => message.block = VolumeCapability.BlockVolume.deserialize(reader));
                        break;
                    case 2:
                        reader.readMessage(message.mount, () => message.mount = VolumeCapability.MountVolume.deserialize(reader));
                        break;
                    case 3:
                        reader.readMessage(message.access_mode, () => message.access_mode = VolumeCapability.AccessMode.deserialize(reader));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): VolumeCapability {
            return VolumeCapability.deserialize(bytes);
        }
    }
    export namespace VolumeCapability {
        export class BlockVolume extends pb_1.Message {
            #one_of_decls: number[][] = [];
            constructor(data?: any[] | {}) {
                super();
                pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
                if (!Array.isArray(data) && typeof data == "object") { }
            }
            static fromObject(data: {}): BlockVolume {
                const message = new BlockVolume({});
                return message;
            }
            toObject() {
                const data: {} = {};
                return data;
            }
            serialize(): Uint8Array;
            serialize(w: pb_1.BinaryWriter): void;
            serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
                const writer = w || new pb_1.BinaryWriter();
                if (!w)
                    return writer.getResultBuffer();
            }
            static deserialize(bytes: Uint8Array | pb_1.BinaryReader): BlockVolume {
                const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new BlockVolume();
                while (reader.nextField()) {
                    if (reader.isEndGroup())
                        break;
                    switch (reader.getFieldNumber()) {
                        default: reader.skipField();
                    }
                }
                return message;
            }
            serializeBinary(): Uint8Array {
                return this.serialize();
            }
            static override deserializeBinary(bytes: Uint8Array): BlockVolume {
                return BlockVolume.deserialize(bytes);
            }
        }
        export class MountVolume extends pb_1.Message {
            #one_of_decls: number[][] = [];
            constructor(data?: any[] | {
                fs_type?: string;
                mount_flags?: string[];
                volume_mount_group?: string;
            }) {
                super();
                pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [2], this.#one_of_decls);
                if (!Array.isArray(data) && typeof data == "object") {
                    if ("fs_type" in data && data.fs_type != undefined) {
                        this.fs_type = data.fs_type;
                    }
                    if ("mount_flags" in data && data.mount_flags != undefined) {
                        this.mount_flags = data.mount_flags;
                    }
                    if ("volume_mount_group" in data && data.volume_mount_group != undefined) {
                        this.volume_mount_group = data.volume_mount_group;
                    }
                }
            }
            get fs_type() {
                return pb_1.Message.getFieldWithDefault(this, 1, "") as string;
            }
            set fs_type(value: string) {
                pb_1.Message.setField(this, 1, value);
            }
            get mount_flags() {
                return pb_1.Message.getFieldWithDefault(this, 2, []) as string[];
            }
            set mount_flags(value: string[]) {
                pb_1.Message.setField(this, 2, value);
            }
            get volume_mount_group() {
                return pb_1.Message.getFieldWithDefault(this, 3, "") as string;
            }
            set volume_mount_group(value: string) {
                pb_1.Message.setField(this, 3, value);
            }
            static fromObject(data: {
                fs_type?: string;
                mount_flags?: string[];
                volume_mount_group?: string;
            }): MountVolume {
                const message = new MountVolume({});
                if (data.fs_type != null) {
                    message.fs_type = data.fs_type;
                }
                if (data.mount_flags != null) {
                    message.mount_flags = data.mount_flags;
                }
                if (data.volume_mount_group != null) {
                    message.volume_mount_group = data.volume_mount_group;
                }
                return message;
            }
            toObject() {
                const data: {
                    fs_type?: string;
                    mount_flags?: string[];
                    volume_mount_group?: string;
                } = {};
                if (this.fs_type != null) {
                    data.fs_type = this.fs_type;
                }
                if (this.mount_flags != null) {
                    data.mount_flags = this.mount_flags;
                }
                if (this.volume_mount_group != null) {
                    data.volume_mount_group = this.volume_mount_group;
                }
                return data;
            }
            serialize(): Uint8Array;
            serialize(w: pb_1.BinaryWriter): void;
            serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
                const writer = w || new pb_1.BinaryWriter();
                if (this.fs_type.length)
                    writer.writeString(1, this.fs_type);
                if (this.mount_flags.length)
                    writer.writeRepeatedString(2, this.mount_flags);
                if (this.volume_mount_group.length)
                    writer.writeString(3, this.volume_mount_group);
                if (!w)
                    return writer.getResultBuffer();
            }
            static deserialize(bytes: Uint8Array | pb_1.BinaryReader): MountVolume {
                const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new MountVolume();
                while (reader.nextField()) {
                    if (reader.isEndGroup())
                        break;
                    switch (reader.getFieldNumber()) {
                        case 1:
                            message.fs_type = reader.readString();
                            break;
                        case 2:
                            pb_1.Message.addToRepeatedField(message, 2, reader.readString());
                            break;
                        case 3:
                            message.volume_mount_group = reader.readString();
                            break;
                        default: reader.skipField();
                    }
                }
                return message;
            }
            serializeBinary(): Uint8Array {
                return this.serialize();
            }
            static override deserializeBinary(bytes: Uint8Array): MountVolume {
                return MountVolume.deserialize(bytes);
            }
        }
        export class AccessMode extends pb_1.Message {
            #one_of_decls: number[][] = [];
            constructor(data?: any[] | {
                mode?: VolumeCapability.AccessMode.Mode;
            }) {
                super();
                pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
                if (!Array.isArray(data) && typeof data == "object") {
                    if ("mode" in data && data.mode != undefined) {
                        this.mode = data.mode;
                    }
                }
            }
            get mode() {
                return pb_1.Message.getFieldWithDefault(this, 1, VolumeCapability.AccessMode.Mode.UNKNOWN) as VolumeCapability.AccessMode.Mode;
            }
            set mode(value: VolumeCapability.AccessMode.Mode) {
                pb_1.Message.setField(this, 1, value);
            }
            static fromObject(data: {
                mode?: VolumeCapability.AccessMode.Mode;
            }): AccessMode {
                const message = new AccessMode({});
                if (data.mode != null) {
                    message.mode = data.mode;
                }
                return message;
            }
            toObject() {
                const data: {
                    mode?: VolumeCapability.AccessMode.Mode;
                } = {};
                if (this.mode != null) {
                    data.mode = this.mode;
                }
                return data;
            }
            serialize(): Uint8Array;
            serialize(w: pb_1.BinaryWriter): void;
            serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
                const writer = w || new pb_1.BinaryWriter();
                if (this.mode != VolumeCapability.AccessMode.Mode.UNKNOWN)
                    writer.writeEnum(1, this.mode);
                if (!w)
                    return writer.getResultBuffer();
            }
            static deserialize(bytes: Uint8Array | pb_1.BinaryReader): AccessMode {
                const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new AccessMode();
                while (reader.nextField()) {
                    if (reader.isEndGroup())
                        break;
                    switch (reader.getFieldNumber()) {
                        case 1:
                            message.mode = reader.readEnum();
                            break;
                        default: reader.skipField();
                    }
                }
                return message;
            }
            serializeBinary(): Uint8Array {
                return this.serialize();
            }
            static override deserializeBinary(bytes: Uint8Array): AccessMode {
                return AccessMode.deserialize(bytes);
            }
        }
        export namespace AccessMode {
            export enum Mode {
                UNKNOWN = 0,
                SINGLE_NODE_WRITER = 1,
                SINGLE_NODE_READER_ONLY = 2,
                MULTI_NODE_READER_ONLY = 3,
                MULTI_NODE_SINGLE_WRITER = 4,
                MULTI_NODE_MULTI_WRITER = 5,
                SINGLE_NODE_SINGLE_WRITER = 6,
                SINGLE_NODE_MULTI_WRITER = 7
            }
        }
    }
    export class CapacityRange extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            required_bytes?: string;
            limit_bytes?: string;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("required_bytes" in data && data.required_bytes != undefined) {
                    this.required_bytes = data.required_bytes;
                }
                if ("limit_bytes" in data && data.limit_bytes != undefined) {
                    this.limit_bytes = data.limit_bytes;
                }
            }
        }
        get required_bytes() {
            return pb_1.Message.getFieldWithDefault(this, 1, "0") as string;
        }
        set required_bytes(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get limit_bytes() {
            return pb_1.Message.getFieldWithDefault(this, 2, "0") as string;
        }
        set limit_bytes(value: string) {
            pb_1.Message.setField(this, 2, value);
        }
        static fromObject(data: {
            required_bytes?: string;
            limit_bytes?: string;
        }): CapacityRange {
            const message = new CapacityRange({});
            if (data.required_bytes != null) {
                message.required_bytes = data.required_bytes;
            }
            if (data.limit_bytes != null) {
                message.limit_bytes = data.limit_bytes;
            }
            return message;
        }
        toObject() {
            const data: {
                required_bytes?: string;
                limit_bytes?: string;
            } = {};
            if (this.required_bytes != null) {
                data.required_bytes = this.required_bytes;
            }
            if (this.limit_bytes != null) {
                data.limit_bytes = this.limit_bytes;
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.required_bytes != "0")
                writer.writeInt64String(1, this.required_bytes);
            if (this.limit_bytes != "0")
                writer.writeInt64String(2, this.limit_bytes);
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): CapacityRange {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new CapacityRange();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.required_bytes = reader.readInt64String();
                        break;
                    case 2:
                        message.limit_bytes = reader.readInt64String();
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): CapacityRange {
            return CapacityRange.deserialize(bytes);
        }
    }
    export class Volume extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            capacity_bytes?: string;
            volume_id?: string;
            volume_context?: Map<string, string>;
            content_source?: VolumeContentSource;
            accessible_topology?: Topology[];
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [5], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("capacity_bytes" in data && data.capacity_bytes != undefined) {
                    this.capacity_bytes = data.capacity_bytes;
                }
                if ("volume_id" in data && data.volume_id != undefined) {
                    this.volume_id = data.volume_id;
                }
                if ("volume_context" in data && data.volume_context != undefined) {
                    this.volume_context = data.volume_context;
                }
                if ("content_source" in data && data.content_source != undefined) {
                    this.content_source = data.content_source;
                }
                if ("accessible_topology" in data && data.accessible_topology != undefined) {
                    this.accessible_topology = data.accessible_topology;
                }
            }
            if (!this.volume_context)
                this.volume_context = new Map();
        }
        get capacity_bytes() {
            return pb_1.Message.getFieldWithDefault(this, 1, "0") as string;
        }
        set capacity_bytes(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get volume_id() {
            return pb_1.Message.getFieldWithDefault(this, 2, "") as string;
        }
        set volume_id(value: string) {
            pb_1.Message.setField(this, 2, value);
        }
        get volume_context() {
            return pb_1.Message.getField(this, 3) as any as Map<string, string>;
        }
        set volume_context(value: Map<string, string>) {
            pb_1.Message.setField(this, 3, value as any);
        }
        get content_source(): VolumeContentSource | undefined {
            return pb_1.Message.getWrapperField(this, VolumeContentSource, 4) as VolumeContentSource | undefined;
        }
        set content_source(value: VolumeContentSource) {
            pb_1.Message.setWrapperField(this, 4, value);
        }
        get has_content_source() {
            return pb_1.Message.getField(this, 4) != null;
        }
        get accessible_topology() {
            return pb_1.Message.getRepeatedWrapperField(this, Topology, 5) as Topology[];
        }
        set accessible_topology(value: Topology[]) {
            pb_1.Message.setRepeatedWrapperField(this, 5, value);
        }
        static fromObject(data: {
            capacity_bytes?: string;
            volume_id?: string;
            volume_context?: {
                [key: string]: string;
            };
            content_source?: ReturnType<typeof VolumeContentSource.prototype.toObject>;
            accessible_topology?: ReturnType<typeof Topology.prototype.toObject>[];
        }): Volume {
            const message = new Volume({});
            if (data.capacity_bytes != null) {
                message.capacity_bytes = data.capacity_bytes;
            }
            if (data.volume_id != null) {
                message.volume_id = data.volume_id;
            }
            if (typeof data.volume_context == "object") {
                message.volume_context = new Map(Object.entries(data.volume_context));
            }
            if (data.content_source != null) {
                message.content_source = VolumeContentSource.fromObject(data.content_source);
            }
            if (data.accessible_topology != null) {
                message.accessible_topology = data.accessible_topology.map(item => Topology.fromObject(item));
            }
            return message;
        }
        toObject() {
            const data: {
                capacity_bytes?: string;
                volume_id?: string;
                volume_context?: {
                    [key: string]: string;
                };
                content_source?: ReturnType<typeof VolumeContentSource.prototype.toObject>;
                accessible_topology?: ReturnType<typeof Topology.prototype.toObject>[];
            } = {};
            if (this.capacity_bytes != null) {
                data.capacity_bytes = this.capacity_bytes;
            }
            if (this.volume_id != null) {
                data.volume_id = this.volume_id;
            }
            if (this.volume_context != null) {
                data.volume_context = (Object.fromEntries)(this.volume_context);
            }
            if (this.content_source != null) {
                data.content_source = this.content_source.toObject();
            }
            if (this.accessible_topology != null) {
                data.accessible_topology = this.accessible_topology.map((item: Topology) => item.toObject());
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.capacity_bytes != "0")
                writer.writeInt64String(1, this.capacity_bytes);
            if (this.volume_id.length)
                writer.writeString(2, this.volume_id);
            for (const [key, value] of this.volume_context) {
                writer.writeMessage(3, this.volume_context, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            if (this.has_content_source)
                writer.writeMessage(4, this.content_source, () => this.content_source?.serialize(writer));
            if (this.accessible_topology.length)
                writer.writeRepeatedMessage(5, this.accessible_topology, (item: Topology) => item.serialize(writer));
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): Volume {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new Volume();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.capacity_bytes = reader.readInt64String();
                        break;
                    case 2:
                        message.volume_id = reader.readString();
                        break;
                    case 3:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.volume_context as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    case 4:
                        reader.readMessage(message.content_source, () => message.content_source = VolumeContentSource.deserialize(reader));
                        break;
                    case 5:
                        reader.readMessage(message.accessible_topology, () => pb_1.Message.addToRepeatedWrapperField(message, 5, Topology.deserialize(reader), Topology));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): Volume {
            return Volume.deserialize(bytes);
        }
    }
    export class TopologyRequirement extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            requisite?: Topology[];
            preferred?: Topology[];
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [1, 2], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("requisite" in data && data.requisite != undefined) {
                    this.requisite = data.requisite;
                }
                if ("preferred" in data && data.preferred != undefined) {
                    this.preferred = data.preferred;
                }
            }
        }
        get requisite() {
            return pb_1.Message.getRepeatedWrapperField(this, Topology, 1) as Topology[];
        }
        set requisite(value: Topology[]) {
            pb_1.Message.setRepeatedWrapperField(this, 1, value);
        }
        get preferred() {
            return pb_1.Message.getRepeatedWrapperField(this, Topology, 2) as Topology[];
        }
        set preferred(value: Topology[]) {
            pb_1.Message.setRepeatedWrapperField(this, 2, value);
        }
        static fromObject(data: {
            requisite?: ReturnType<typeof Topology.prototype.toObject>[];
            preferred?: ReturnType<typeof Topology.prototype.toObject>[];
        }): TopologyRequirement {
            const message = new TopologyRequirement({});
            if (data.requisite != null) {
                message.requisite = data.requisite.map(item => Topology.fromObject(item));
            }
            if (data.preferred != null) {
                message.preferred = data.preferred.map(item => Topology.fromObject(item));
            }
            return message;
        }
        toObject() {
            const data: {
                requisite?: ReturnType<typeof Topology.prototype.toObject>[];
                preferred?: ReturnType<typeof Topology.prototype.toObject>[];
            } = {};
            if (this.requisite != null) {
                data.requisite = this.requisite.map((item: Topology) => item.toObject());
            }
            if (this.preferred != null) {
                data.preferred = this.preferred.map((item: Topology) => item.toObject());
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.requisite.length)
                writer.writeRepeatedMessage(1, this.requisite, (item: Topology) => item.serialize(writer));
            if (this.preferred.length)
                writer.writeRepeatedMessage(2, this.preferred, (item: Topology) => item.serialize(writer));
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): TopologyRequirement {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new TopologyRequirement();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        reader.readMessage(message.requisite, () => pb_1.Message.addToRepeatedWrapperField(message, 1, Topology.deserialize(reader), Topology));
                        break;
                    case 2:
                        reader.readMessage(message.preferred, () => pb_1.Message.addToRepeatedWrapperField(message, 2, Topology.deserialize(reader), Topology));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): TopologyRequirement {
            return TopologyRequirement.deserialize(bytes);
        }
    }
    export class Topology extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            segments?: Map<string, string>;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("segments" in data && data.segments != undefined) {
                    this.segments = data.segments;
                }
            }
            if (!this.segments)
                this.segments = new Map();
        }
        get segments() {
            return pb_1.Message.getField(this, 1) as any as Map<string, string>;
        }
        set segments(value: Map<string, string>) {
            pb_1.Message.setField(this, 1, value as any);
        }
        static fromObject(data: {
            segments?: {
                [key: string]: string;
            };
        }): Topology {
            const message = new Topology({});
            if (typeof data.segments == "object") {
                message.segments = new Map(Object.entries(data.segments));
            }
            return message;
        }
        toObject() {
            const data: {
                segments?: {
                    [key: string]: string;
                };
            } = {};
            if (this.segments != null) {
                data.segments = (Object.fromEntries)(this.segments);
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            for (const [key, value] of this.segments) {
                writer.writeMessage(1, this.segments, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): Topology {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new Topology();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.segments as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): Topology {
            return Topology.deserialize(bytes);
        }
    }
    export class DeleteVolumeRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            volume_id?: string;
            secrets?: Map<string, string>;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("volume_id" in data && data.volume_id != undefined) {
                    this.volume_id = data.volume_id;
                }
                if ("secrets" in data && data.secrets != undefined) {
                    this.secrets = data.secrets;
                }
            }
            if (!this.secrets)
                this.secrets = new Map();
        }
        get volume_id() {
            return pb_1.Message.getFieldWithDefault(this, 1, "") as string;
        }
        set volume_id(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get secrets() {
            return pb_1.Message.getField(this, 2) as any as Map<string, string>;
        }
        set secrets(value: Map<string, string>) {
            pb_1.Message.setField(this, 2, value as any);
        }
        static fromObject(data: {
            volume_id?: string;
            secrets?: {
                [key: string]: string;
            };
        }): DeleteVolumeRequest {
            const message = new DeleteVolumeRequest({});
            if (data.volume_id != null) {
                message.volume_id = data.volume_id;
            }
            if (typeof data.secrets == "object") {
                message.secrets = new Map(Object.entries(data.secrets));
            }
            return message;
        }
        toObject() {
            const data: {
                volume_id?: string;
                secrets?: {
                    [key: string]: string;
                };
            } = {};
            if (this.volume_id != null) {
                data.volume_id = this.volume_id;
            }
            if (this.secrets != null) {
                data.secrets = (Object.fromEntries)(this.secrets);
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.volume_id.length)
                writer.writeString(1, this.volume_id);
            for (const [key, value] of this.secrets) {
                writer.writeMessage(2, this.secrets, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): DeleteVolumeRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new DeleteVolumeRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.volume_id = reader.readString();
                        break;
                    case 2:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.secrets as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): DeleteVolumeRequest {
            return DeleteVolumeRequest.deserialize(bytes);
        }
    }
    export class DeleteVolumeResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {}) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") { }
        }
        static fromObject(data: {}): DeleteVolumeResponse {
            const message = new DeleteVolumeResponse({});
            return message;
        }
        toObject() {
            const data: {} = {};
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): DeleteVolumeResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new DeleteVolumeResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): DeleteVolumeResponse {
            return DeleteVolumeResponse.deserialize(bytes);
        }
    }
    export class ControllerPublishVolumeRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            volume_id?: string;
            node_id?: string;
            volume_capability?: VolumeCapability;
            readonly?: boolean;
            secrets?: Map<string, string>;
            volume_context?: Map<string, string>;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("volume_id" in data && data.volume_id != undefined) {
                    this.volume_id = data.volume_id;
                }
                if ("node_id" in data && data.node_id != undefined) {
                    this.node_id = data.node_id;
                }
                if ("volume_capability" in data && data.volume_capability != undefined) {
                    this.volume_capability = data.volume_capability;
                }
                if ("readonly" in data && data.readonly != undefined) {
                    this.readonly = data.readonly;
                }
                if ("secrets" in data && data.secrets != undefined) {
                    this.secrets = data.secrets;
                }
                if ("volume_context" in data && data.volume_context != undefined) {
                    this.volume_context = data.volume_context;
                }
            }
            if (!this.secrets)
                this.secrets = new Map();
            if (!this.volume_context)
                this.volume_context = new Map();
        }
        get volume_id() {
            return pb_1.Message.getFieldWithDefault(this, 1, "") as string;
        }
        set volume_id(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get node_id() {
            return pb_1.Message.getFieldWithDefault(this, 2, "") as string;
        }
        set node_id(value: string) {
            pb_1.Message.setField(this, 2, value);
        }
        get volume_capability(): VolumeCapability | undefined {
            return pb_1.Message.getWrapperField(this, VolumeCapability, 3) as VolumeCapability | undefined;
        }
        set volume_capability(value: VolumeCapability) {
            pb_1.Message.setWrapperField(this, 3, value);
        }
        get has_volume_capability() {
            return pb_1.Message.getField(this, 3) != null;
        }
        get readonly() {
            return pb_1.Message.getFieldWithDefault(this, 4, false) as boolean;
        }
        set readonly(value: boolean) {
            pb_1.Message.setField(this, 4, value);
        }
        get secrets() {
            return pb_1.Message.getField(this, 5) as any as Map<string, string>;
        }
        set secrets(value: Map<string, string>) {
            pb_1.Message.setField(this, 5, value as any);
        }
        get volume_context() {
            return pb_1.Message.getField(this, 6) as any as Map<string, string>;
        }
        set volume_context(value: Map<string, string>) {
            pb_1.Message.setField(this, 6, value as any);
        }
        static fromObject(data: {
            volume_id?: string;
            node_id?: string;
            volume_capability?: ReturnType<typeof VolumeCapability.prototype.toObject>;
            readonly?: boolean;
            secrets?: {
                [key: string]: string;
            };
            volume_context?: {
                [key: string]: string;
            };
        }): ControllerPublishVolumeRequest {
            const message = new ControllerPublishVolumeRequest({});
            if (data.volume_id != null) {
                message.volume_id = data.volume_id;
            }
            if (data.node_id != null) {
                message.node_id = data.node_id;
            }
            if (data.volume_capability != null) {
                message.volume_capability = VolumeCapability.fromObject(data.volume_capability);
            }
            if (data.readonly != null) {
                message.readonly = data.readonly;
            }
            if (typeof data.secrets == "object") {
                message.secrets = new Map(Object.entries(data.secrets));
            }
            if (typeof data.volume_context == "object") {
                message.volume_context = new Map(Object.entries(data.volume_context));
            }
            return message;
        }
        toObject() {
            const data: {
                volume_id?: string;
                node_id?: string;
                volume_capability?: ReturnType<typeof VolumeCapability.prototype.toObject>;
                readonly?: boolean;
                secrets?: {
                    [key: string]: string;
                };
                volume_context?: {
                    [key: string]: string;
                };
            } = {};
            if (this.volume_id != null) {
                data.volume_id = this.volume_id;
            }
            if (this.node_id != null) {
                data.node_id = this.node_id;
            }
            if (this.volume_capability != null) {
                data.volume_capability = this.volume_capability.toObject();
            }
            if (this.readonly != null) {
                data.readonly = this.readonly;
            }
            if (this.secrets != null) {
                data.secrets = (Object.fromEntries)(this.secrets);
            }
            if (this.volume_context != null) {
                data.volume_context = (Object.fromEntries)(this.volume_context);
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.volume_id.length)
                writer.writeString(1, this.volume_id);
            if (this.node_id.length)
                writer.writeString(2, this.node_id);
            if (this.has_volume_capability)
                writer.writeMessage(3, this.volume_capability, () => this.volume_capability?.serialize(writer));
            if (this.readonly != false)
                writer.writeBool(4, this.readonly);
            for (const [key, value] of this.secrets) {
                writer.writeMessage(5, this.secrets, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            for (const [key, value] of this.volume_context) {
                writer.writeMessage(6, this.volume_context, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): ControllerPublishVolumeRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new ControllerPublishVolumeRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.volume_id = reader.readString();
                        break;
                    case 2:
                        message.node_id = reader.readString();
                        break;
                    case 3:
                        reader.readMessage(message.volume_capability, () => message.volume_capability = VolumeCapability.deserialize(reader));
                        break;
                    case 4:
                        message.readonly = reader.readBool();
                        break;
                    case 5:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.secrets as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    case 6:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.volume_context as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): ControllerPublishVolumeRequest {
            return ControllerPublishVolumeRequest.deserialize(bytes);
        }
    }
    export class ControllerPublishVolumeResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            publish_context?: Map<string, string>;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("publish_context" in data && data.publish_context != undefined) {
                    this.publish_context = data.publish_context;
                }
            }
            if (!this.publish_context)
                this.publish_context = new Map();
        }
        get publish_context() {
            return pb_1.Message.getField(this, 1) as any as Map<string, string>;
        }
        set publish_context(value: Map<string, string>) {
            pb_1.Message.setField(this, 1, value as any);
        }
        static fromObject(data: {
            publish_context?: {
                [key: string]: string;
            };
        }): ControllerPublishVolumeResponse {
            const message = new ControllerPublishVolumeResponse({});
            if (typeof data.publish_context == "object") {
                message.publish_context = new Map(Object.entries(data.publish_context));
            }
            return message;
        }
        toObject() {
            const data: {
                publish_context?: {
                    [key: string]: string;
                };
            } = {};
            if (this.publish_context != null) {
                data.publish_context = (Object.fromEntries)(this.publish_context);
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            for (const [key, value] of this.publish_context) {
                writer.writeMessage(1, this.publish_context, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): ControllerPublishVolumeResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new ControllerPublishVolumeResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.publish_context as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): ControllerPublishVolumeResponse {
            return ControllerPublishVolumeResponse.deserialize(bytes);
        }
    }
    export class ControllerUnpublishVolumeRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            volume_id?: string;
            node_id?: string;
            secrets?: Map<string, string>;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("volume_id" in data && data.volume_id != undefined) {
                    this.volume_id = data.volume_id;
                }
                if ("node_id" in data && data.node_id != undefined) {
                    this.node_id = data.node_id;
                }
                if ("secrets" in data && data.secrets != undefined) {
                    this.secrets = data.secrets;
                }
            }
            if (!this.secrets)
                this.secrets = new Map();
        }
        get volume_id() {
            return pb_1.Message.getFieldWithDefault(this, 1, "") as string;
        }
        set volume_id(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get node_id() {
            return pb_1.Message.getFieldWithDefault(this, 2, "") as string;
        }
        set node_id(value: string) {
            pb_1.Message.setField(this, 2, value);
        }
        get secrets() {
            return pb_1.Message.getField(this, 3) as any as Map<string, string>;
        }
        set secrets(value: Map<string, string>) {
            pb_1.Message.setField(this, 3, value as any);
        }
        static fromObject(data: {
            volume_id?: string;
            node_id?: string;
            secrets?: {
                [key: string]: string;
            };
        }): ControllerUnpublishVolumeRequest {
            const message = new ControllerUnpublishVolumeRequest({});
            if (data.volume_id != null) {
                message.volume_id = data.volume_id;
            }
            if (data.node_id != null) {
                message.node_id = data.node_id;
            }
            if (typeof data.secrets == "object") {
                message.secrets = new Map(Object.entries(data.secrets));
            }
            return message;
        }
        toObject() {
            const data: {
                volume_id?: string;
                node_id?: string;
                secrets?: {
                    [key: string]: string;
                };
            } = {};
            if (this.volume_id != null) {
                data.volume_id = this.volume_id;
            }
            if (this.node_id != null) {
                data.node_id = this.node_id;
            }
            if (this.secrets != null) {
                data.secrets = (Object.fromEntries)(this.secrets);
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.volume_id.length)
                writer.writeString(1, this.volume_id);
            if (this.node_id.length)
                writer.writeString(2, this.node_id);
            for (const [key, value] of this.secrets) {
                writer.writeMessage(3, this.secrets, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): ControllerUnpublishVolumeRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new ControllerUnpublishVolumeRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.volume_id = reader.readString();
                        break;
                    case 2:
                        message.node_id = reader.readString();
                        break;
                    case 3:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.secrets as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): ControllerUnpublishVolumeRequest {
            return ControllerUnpublishVolumeRequest.deserialize(bytes);
        }
    }
    export class ControllerUnpublishVolumeResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {}) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") { }
        }
        static fromObject(data: {}): ControllerUnpublishVolumeResponse {
            const message = new ControllerUnpublishVolumeResponse({});
            return message;
        }
        toObject() {
            const data: {} = {};
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): ControllerUnpublishVolumeResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new ControllerUnpublishVolumeResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): ControllerUnpublishVolumeResponse {
            return ControllerUnpublishVolumeResponse.deserialize(bytes);
        }
    }
    export class ValidateVolumeCapabilitiesRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            volume_id?: string;
            volume_context?: Map<string, string>;
            volume_capabilities?: VolumeCapability[];
            parameters?: Map<string, string>;
            secrets?: Map<string, string>;
            mutable_parameters?: Map<string, string>;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [3], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("volume_id" in data && data.volume_id != undefined) {
                    this.volume_id = data.volume_id;
                }
                if ("volume_context" in data && data.volume_context != undefined) {
                    this.volume_context = data.volume_context;
                }
                if ("volume_capabilities" in data && data.volume_capabilities != undefined) {
                    this.volume_capabilities = data.volume_capabilities;
                }
                if ("parameters" in data && data.parameters != undefined) {
                    this.parameters = data.parameters;
                }
                if ("secrets" in data && data.secrets != undefined) {
                    this.secrets = data.secrets;
                }
                if ("mutable_parameters" in data && data.mutable_parameters != undefined) {
                    this.mutable_parameters = data.mutable_parameters;
                }
            }
            if (!this.volume_context)
                this.volume_context = new Map();
            if (!this.parameters)
                this.parameters = new Map();
            if (!this.secrets)
                this.secrets = new Map();
            if (!this.mutable_parameters)
                this.mutable_parameters = new Map();
        }
        get volume_id() {
            return pb_1.Message.getFieldWithDefault(this, 1, "") as string;
        }
        set volume_id(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get volume_context() {
            return pb_1.Message.getField(this, 2) as any as Map<string, string>;
        }
        set volume_context(value: Map<string, string>) {
            pb_1.Message.setField(this, 2, value as any);
        }
        get volume_capabilities() {
            return pb_1.Message.getRepeatedWrapperField(this, VolumeCapability, 3) as VolumeCapability[];
        }
        set volume_capabilities(value: VolumeCapability[]) {
            pb_1.Message.setRepeatedWrapperField(this, 3, value);
        }
        get parameters() {
            return pb_1.Message.getField(this, 4) as any as Map<string, string>;
        }
        set parameters(value: Map<string, string>) {
            pb_1.Message.setField(this, 4, value as any);
        }
        get secrets() {
            return pb_1.Message.getField(this, 5) as any as Map<string, string>;
        }
        set secrets(value: Map<string, string>) {
            pb_1.Message.setField(this, 5, value as any);
        }
        get mutable_parameters() {
            return pb_1.Message.getField(this, 6) as any as Map<string, string>;
        }
        set mutable_parameters(value: Map<string, string>) {
            pb_1.Message.setField(this, 6, value as any);
        }
        static fromObject(data: {
            volume_id?: string;
            volume_context?: {
                [key: string]: string;
            };
            volume_capabilities?: ReturnType<typeof VolumeCapability.prototype.toObject>[];
            parameters?: {
                [key: string]: string;
            };
            secrets?: {
                [key: string]: string;
            };
            mutable_parameters?: {
                [key: string]: string;
            };
        }): ValidateVolumeCapabilitiesRequest {
            const message = new ValidateVolumeCapabilitiesRequest({});
            if (data.volume_id != null) {
                message.volume_id = data.volume_id;
            }
            if (typeof data.volume_context == "object") {
                message.volume_context = new Map(Object.entries(data.volume_context));
            }
            if (data.volume_capabilities != null) {
                message.volume_capabilities = data.volume_capabilities.map(item => VolumeCapability.fromObject(item));
            }
            if (typeof data.parameters == "object") {
                message.parameters = new Map(Object.entries(data.parameters));
            }
            if (typeof data.secrets == "object") {
                message.secrets = new Map(Object.entries(data.secrets));
            }
            if (typeof data.mutable_parameters == "object") {
                message.mutable_parameters = new Map(Object.entries(data.mutable_parameters));
            }
            return message;
        }
        toObject() {
            const data: {
                volume_id?: string;
                volume_context?: {
                    [key: string]: string;
                };
                volume_capabilities?: ReturnType<typeof VolumeCapability.prototype.toObject>[];
                parameters?: {
                    [key: string]: string;
                };
                secrets?: {
                    [key: string]: string;
                };
                mutable_parameters?: {
                    [key: string]: string;
                };
            } = {};
            if (this.volume_id != null) {
                data.volume_id = this.volume_id;
            }
            if (this.volume_context != null) {
                data.volume_context = (Object.fromEntries)(this.volume_context);
            }
            if (this.volume_capabilities != null) {
                data.volume_capabilities = this.volume_capabilities.map((item: VolumeCapability) => item.toObject());
            }
            if (this.parameters != null) {
                data.parameters = (Object.fromEntries)(this.parameters);
            }
            if (this.secrets != null) {
                data.secrets = (Object.fromEntries)(this.secrets);
            }
            if (this.mutable_parameters != null) {
                data.mutable_parameters = (Object.fromEntries)(this.mutable_parameters);
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.volume_id.length)
                writer.writeString(1, this.volume_id);
            for (const [key, value] of this.volume_context) {
                writer.writeMessage(2, this.volume_context, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            if (this.volume_capabilities.length)
                writer.writeRepeatedMessage(3, this.volume_capabilities, (item: VolumeCapability) => item.serialize(writer));
            for (const [key, value] of this.parameters) {
                writer.writeMessage(4, this.parameters, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            for (const [key, value] of this.secrets) {
                writer.writeMessage(5, this.secrets, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            for (const [key, value] of this.mutable_parameters) {
                writer.writeMessage(6, this.mutable_parameters, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): ValidateVolumeCapabilitiesRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new ValidateVolumeCapabilitiesRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.volume_id = reader.readString();
                        break;
                    case 2:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.volume_context as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    case 3:
                        reader.readMessage(message.volume_capabilities, () => pb_1.Message.addToRepeatedWrapperField(message, 3, VolumeCapability.deserialize(reader), VolumeCapability));
                        break;
                    case 4:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.parameters as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    case 5:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.secrets as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    case 6:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.mutable_parameters as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): ValidateVolumeCapabilitiesRequest {
            return ValidateVolumeCapabilitiesRequest.deserialize(bytes);
        }
    }
    export class ValidateVolumeCapabilitiesResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            confirmed?: ValidateVolumeCapabilitiesResponse.Confirmed;
            message?: string;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("confirmed" in data && data.confirmed != undefined) {
                    this.confirmed = data.confirmed;
                }
                if ("message" in data && data.message != undefined) {
                    this.message = data.message;
                }
            }
        }
        get confirmed(): ValidateVolumeCapabilitiesResponse.Confirmed | undefined {
            return pb_1.Message.getWrapperField(this, ValidateVolumeCapabilitiesResponse.Confirmed, 1) as ValidateVolumeCapabilitiesResponse.Confirmed | undefined;
        }
        set confirmed(value: ValidateVolumeCapabilitiesResponse.Confirmed) {
            pb_1.Message.setWrapperField(this, 1, value);
        }
        get has_confirmed() {
            return pb_1.Message.getField(this, 1) != null;
        }
        get message() {
            return pb_1.Message.getFieldWithDefault(this, 2, "") as string;
        }
        set message(value: string) {
            pb_1.Message.setField(this, 2, value);
        }
        static fromObject(data: {
            confirmed?: ReturnType<typeof ValidateVolumeCapabilitiesResponse.Confirmed.prototype.toObject>;
            message?: string;
        }): ValidateVolumeCapabilitiesResponse {
            const message = new ValidateVolumeCapabilitiesResponse({});
            if (data.confirmed != null) {
                message.confirmed = ValidateVolumeCapabilitiesResponse.Confirmed.fromObject(data.confirmed);
            }
            if (data.message != null) {
                message.message = data.message;
            }
            return message;
        }
        toObject() {
            const data: {
                confirmed?: ReturnType<typeof ValidateVolumeCapabilitiesResponse.Confirmed.prototype.toObject>;
                message?: string;
            } = {};
            if (this.confirmed != null) {
                data.confirmed = this.confirmed.toObject();
            }
            if (this.message != null) {
                data.message = this.message;
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.has_confirmed)
                writer.writeMessage(1, this.confirmed, () => this.confirmed?.serialize(writer));
            if (this.message.length)
                writer.writeString(2, this.message);
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): ValidateVolumeCapabilitiesResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new ValidateVolumeCapabilitiesResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        reader.readMessage(message.confirmed, () => message.confirmed = ValidateVolumeCapabilitiesResponse.Confirmed.deserialize(reader));
                        break;
                    case 2:
                        message.message = reader.readString();
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): ValidateVolumeCapabilitiesResponse {
            return ValidateVolumeCapabilitiesResponse.deserialize(bytes);
        }
    }
    export namespace ValidateVolumeCapabilitiesResponse {
        export class Confirmed extends pb_1.Message {
            #one_of_decls: number[][] = [];
            constructor(data?: any[] | {
                volume_context?: Map<string, string>;
                volume_capabilities?: VolumeCapability[];
                parameters?: Map<string, string>;
                mutable_parameters?: Map<string, string>;
            }) {
                super();
                pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [2], this.#one_of_decls);
                if (!Array.isArray(data) && typeof data == "object") {
                    if ("volume_context" in data && data.volume_context != undefined) {
                        this.volume_context = data.volume_context;
                    }
                    if ("volume_capabilities" in data && data.volume_capabilities != undefined) {
                        this.volume_capabilities = data.volume_capabilities;
                    }
                    if ("parameters" in data && data.parameters != undefined) {
                        this.parameters = data.parameters;
                    }
                    if ("mutable_parameters" in data && data.mutable_parameters != undefined) {
                        this.mutable_parameters = data.mutable_parameters;
                    }
                }
                if (!this.volume_context)
                    this.volume_context = new Map();
                if (!this.parameters)
                    this.parameters = new Map();
                if (!this.mutable_parameters)
                    this.mutable_parameters = new Map();
            }
            get volume_context() {
                return pb_1.Message.getField(this, 1) as any as Map<string, string>;
            }
            set volume_context(value: Map<string, string>) {
                pb_1.Message.setField(this, 1, value as any);
            }
            get volume_capabilities() {
                return pb_1.Message.getRepeatedWrapperField(this, VolumeCapability, 2) as VolumeCapability[];
            }
            set volume_capabilities(value: VolumeCapability[]) {
                pb_1.Message.setRepeatedWrapperField(this, 2, value);
            }
            get parameters() {
                return pb_1.Message.getField(this, 3) as any as Map<string, string>;
            }
            set parameters(value: Map<string, string>) {
                pb_1.Message.setField(this, 3, value as any);
            }
            get mutable_parameters() {
                return pb_1.Message.getField(this, 4) as any as Map<string, string>;
            }
            set mutable_parameters(value: Map<string, string>) {
                pb_1.Message.setField(this, 4, value as any);
            }
            static fromObject(data: {
                volume_context?: {
                    [key: string]: string;
                };
                volume_capabilities?: ReturnType<typeof VolumeCapability.prototype.toObject>[];
                parameters?: {
                    [key: string]: string;
                };
                mutable_parameters?: {
                    [key: string]: string;
                };
            }): Confirmed {
                const message = new Confirmed({});
                if (typeof data.volume_context == "object") {
                    message.volume_context = new Map(Object.entries(data.volume_context));
                }
                if (data.volume_capabilities != null) {
                    message.volume_capabilities = data.volume_capabilities.map(item => VolumeCapability.fromObject(item));
                }
                if (typeof data.parameters == "object") {
                    message.parameters = new Map(Object.entries(data.parameters));
                }
                if (typeof data.mutable_parameters == "object") {
                    message.mutable_parameters = new Map(Object.entries(data.mutable_parameters));
                }
                return message;
            }
            toObject() {
                const data: {
                    volume_context?: {
                        [key: string]: string;
                    };
                    volume_capabilities?: ReturnType<typeof VolumeCapability.prototype.toObject>[];
                    parameters?: {
                        [key: string]: string;
                    };
                    mutable_parameters?: {
                        [key: string]: string;
                    };
                } = {};
                if (this.volume_context != null) {
                    data.volume_context = (Object.fromEntries)(this.volume_context);
                }
                if (this.volume_capabilities != null) {
                    data.volume_capabilities = this.volume_capabilities.map((item: VolumeCapability) => item.toObject());
                }
                if (this.parameters != null) {
                    data.parameters = (Object.fromEntries)(this.parameters);
                }
                if (this.mutable_parameters != null) {
                    data.mutable_parameters = (Object.fromEntries)(this.mutable_parameters);
                }
                return data;
            }
            serialize(): Uint8Array;
            serialize(w: pb_1.BinaryWriter): void;
            serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
                const writer = w || new pb_1.BinaryWriter();
                for (const [key, value] of this.volume_context) {
                    writer.writeMessage(1, this.volume_context, () => {
                        writer.writeString(1, key);
                        writer.writeString(2, value);
                    });
                }
                if (this.volume_capabilities.length)
                    writer.writeRepeatedMessage(2, this.volume_capabilities, (item: VolumeCapability) => item.serialize(writer));
                for (const [key, value] of this.parameters) {
                    writer.writeMessage(3, this.parameters, () => {
                        writer.writeString(1, key);
                        writer.writeString(2, value);
                    });
                }
                for (const [key, value] of this.mutable_parameters) {
                    writer.writeMessage(4, this.mutable_parameters, () => {
                        writer.writeString(1, key);
                        writer.writeString(2, value);
                    });
                }
                if (!w)
                    return writer.getResultBuffer();
            }
            static deserialize(bytes: Uint8Array | pb_1.BinaryReader): Confirmed {
                const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new Confirmed();
                while (reader.nextField()) {
                    if (reader.isEndGroup())
                        break;
                    switch (reader.getFieldNumber()) {
                        case 1:
                            reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.volume_context as any, reader, reader.readString, reader.readString, undefined, "", ""));
                            break;
                        case 2:
                            reader.readMessage(message.volume_capabilities, () => pb_1.Message.addToRepeatedWrapperField(message, 2, VolumeCapability.deserialize(reader), VolumeCapability));
                            break;
                        case 3:
                            reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.parameters as any, reader, reader.readString, reader.readString, undefined, "", ""));
                            break;
                        case 4:
                            reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.mutable_parameters as any, reader, reader.readString, reader.readString, undefined, "", ""));
                            break;
                        default: reader.skipField();
                    }
                }
                return message;
            }
            serializeBinary(): Uint8Array {
                return this.serialize();
            }
            static override deserializeBinary(bytes: Uint8Array): Confirmed {
                return Confirmed.deserialize(bytes);
            }
        }
    }
    export class ListVolumesRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            max_entries?: number;
            starting_token?: string;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("max_entries" in data && data.max_entries != undefined) {
                    this.max_entries = data.max_entries;
                }
                if ("starting_token" in data && data.starting_token != undefined) {
                    this.starting_token = data.starting_token;
                }
            }
        }
        get max_entries() {
            return pb_1.Message.getFieldWithDefault(this, 1, 0) as number;
        }
        set max_entries(value: number) {
            pb_1.Message.setField(this, 1, value);
        }
        get starting_token() {
            return pb_1.Message.getFieldWithDefault(this, 2, "") as string;
        }
        set starting_token(value: string) {
            pb_1.Message.setField(this, 2, value);
        }
        static fromObject(data: {
            max_entries?: number;
            starting_token?: string;
        }): ListVolumesRequest {
            const message = new ListVolumesRequest({});
            if (data.max_entries != null) {
                message.max_entries = data.max_entries;
            }
            if (data.starting_token != null) {
                message.starting_token = data.starting_token;
            }
            return message;
        }
        toObject() {
            const data: {
                max_entries?: number;
                starting_token?: string;
            } = {};
            if (this.max_entries != null) {
                data.max_entries = this.max_entries;
            }
            if (this.starting_token != null) {
                data.starting_token = this.starting_token;
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.max_entries != 0)
                writer.writeInt32(1, this.max_entries);
            if (this.starting_token.length)
                writer.writeString(2, this.starting_token);
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): ListVolumesRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new ListVolumesRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.max_entries = reader.readInt32();
                        break;
                    case 2:
                        message.starting_token = reader.readString();
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): ListVolumesRequest {
            return ListVolumesRequest.deserialize(bytes);
        }
    }
    export class ListVolumesResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            entries?: ListVolumesResponse.Entry[];
            next_token?: string;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [1], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("entries" in data && data.entries != undefined) {
                    this.entries = data.entries;
                }
                if ("next_token" in data && data.next_token != undefined) {
                    this.next_token = data.next_token;
                }
            }
        }
        get entries() {
            return pb_1.Message.getRepeatedWrapperField(this, ListVolumesResponse.Entry, 1) as ListVolumesResponse.Entry[];
        }
        set entries(value: ListVolumesResponse.Entry[]) {
            pb_1.Message.setRepeatedWrapperField(this, 1, value);
        }
        get next_token() {
            return pb_1.Message.getFieldWithDefault(this, 2, "") as string;
        }
        set next_token(value: string) {
            pb_1.Message.setField(this, 2, value);
        }
        static fromObject(data: {
            entries?: ReturnType<typeof ListVolumesResponse.Entry.prototype.toObject>[];
            next_token?: string;
        }): ListVolumesResponse {
            const message = new ListVolumesResponse({});
            if (data.entries != null) {
                message.entries = data.entries.map(item => ListVolumesResponse.Entry.fromObject(item));
            }
            if (data.next_token != null) {
                message.next_token = data.next_token;
            }
            return message;
        }
        toObject() {
            const data: {
                entries?: ReturnType<typeof ListVolumesResponse.Entry.prototype.toObject>[];
                next_token?: string;
            } = {};
            if (this.entries != null) {
                data.entries = this.entries.map((item: ListVolumesResponse.Entry) => item.toObject());
            }
            if (this.next_token != null) {
                data.next_token = this.next_token;
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.entries.length)
                writer.writeRepeatedMessage(1, this.entries, (item: ListVolumesResponse.Entry) => item.serialize(writer));
            if (this.next_token.length)
                writer.writeString(2, this.next_token);
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): ListVolumesResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new ListVolumesResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        reader.readMessage(message.entries, () => pb_1.Message.addToRepeatedWrapperField(message, 1, ListVolumesResponse.Entry.deserialize(reader), ListVolumesResponse.Entry));
                        break;
                    case 2:
                        message.next_token = reader.readString();
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): ListVolumesResponse {
            return ListVolumesResponse.deserialize(bytes);
        }
    }
    export namespace ListVolumesResponse {
        export class VolumeStatus extends pb_1.Message {
            #one_of_decls: number[][] = [];
            constructor(data?: any[] | {
                published_node_ids?: string[];
                volume_condition?: VolumeCondition;
            }) {
                super();
                pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [1], this.#one_of_decls);
                if (!Array.isArray(data) && typeof data == "object") {
                    if ("published_node_ids" in data && data.published_node_ids != undefined) {
                        this.published_node_ids = data.published_node_ids;
                    }
                    if ("volume_condition" in data && data.volume_condition != undefined) {
                        this.volume_condition = data.volume_condition;
                    }
                }
            }
            get published_node_ids() {
                return pb_1.Message.getFieldWithDefault(this, 1, []) as string[];
            }
            set published_node_ids(value: string[]) {
                pb_1.Message.setField(this, 1, value);
            }
            get volume_condition(): VolumeCondition | undefined {
                return pb_1.Message.getWrapperField(this, VolumeCondition, 2) as VolumeCondition | undefined;
            }
            set volume_condition(value: VolumeCondition) {
                pb_1.Message.setWrapperField(this, 2, value);
            }
            get has_volume_condition() {
                return pb_1.Message.getField(this, 2) != null;
            }
            static fromObject(data: {
                published_node_ids?: string[];
                volume_condition?: ReturnType<typeof VolumeCondition.prototype.toObject>;
            }): VolumeStatus {
                const message = new VolumeStatus({});
                if (data.published_node_ids != null) {
                    message.published_node_ids = data.published_node_ids;
                }
                if (data.volume_condition != null) {
                    message.volume_condition = VolumeCondition.fromObject(data.volume_condition);
                }
                return message;
            }
            toObject() {
                const data: {
                    published_node_ids?: string[];
                    volume_condition?: ReturnType<typeof VolumeCondition.prototype.toObject>;
                } = {};
                if (this.published_node_ids != null) {
                    data.published_node_ids = this.published_node_ids;
                }
                if (this.volume_condition != null) {
                    data.volume_condition = this.volume_condition.toObject();
                }
                return data;
            }
            serialize(): Uint8Array;
            serialize(w: pb_1.BinaryWriter): void;
            serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
                const writer = w || new pb_1.BinaryWriter();
                if (this.published_node_ids.length)
                    writer.writeRepeatedString(1, this.published_node_ids);
                if (this.has_volume_condition)
                    writer.writeMessage(2, this.volume_condition, () => this.volume_condition?.serialize(writer));
                if (!w)
                    return writer.getResultBuffer();
            }
            static deserialize(bytes: Uint8Array | pb_1.BinaryReader): VolumeStatus {
                const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new VolumeStatus();
                while (reader.nextField()) {
                    if (reader.isEndGroup())
                        break;
                    switch (reader.getFieldNumber()) {
                        case 1:
                            pb_1.Message.addToRepeatedField(message, 1, reader.readString());
                            break;
                        case 2:
                            reader.readMessage(message.volume_condition, () => message.volume_condition = VolumeCondition.deserialize(reader));
                            break;
                        default: reader.skipField();
                    }
                }
                return message;
            }
            serializeBinary(): Uint8Array {
                return this.serialize();
            }
            static override deserializeBinary(bytes: Uint8Array): VolumeStatus {
                return VolumeStatus.deserialize(bytes);
            }
        }
        export class Entry extends pb_1.Message {
            #one_of_decls: number[][] = [];
            constructor(data?: any[] | {
                volume?: Volume;
                status?: ListVolumesResponse.VolumeStatus;
            }) {
                super();
                pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
                if (!Array.isArray(data) && typeof data == "object") {
                    if ("volume" in data && data.volume != undefined) {
                        this.volume = data.volume;
                    }
                    if ("status" in data && data.status != undefined) {
                        this.status = data.status;
                    }
                }
            }
            get volume(): Volume | undefined {
                return pb_1.Message.getWrapperField(this, Volume, 1) as Volume | undefined;
            }
            set volume(value: Volume) {
                pb_1.Message.setWrapperField(this, 1, value);
            }
            get has_volume() {
                return pb_1.Message.getField(this, 1) != null;
            }
            get status(): ListVolumesResponse.VolumeStatus | undefined {
                return pb_1.Message.getWrapperField(this, ListVolumesResponse.VolumeStatus, 2) as ListVolumesResponse.VolumeStatus | undefined;
            }
            set status(value: ListVolumesResponse.VolumeStatus) {
                pb_1.Message.setWrapperField(this, 2, value);
            }
            get has_status() {
                return pb_1.Message.getField(this, 2) != null;
            }
            static fromObject(data: {
                volume?: ReturnType<typeof Volume.prototype.toObject>;
                status?: ReturnType<typeof ListVolumesResponse.VolumeStatus.prototype.toObject>;
            }): Entry {
                const message = new Entry({});
                if (data.volume != null) {
                    message.volume = Volume.fromObject(data.volume);
                }
                if (data.status != null) {
                    message.status = ListVolumesResponse.VolumeStatus.fromObject(data.status);
                }
                return message;
            }
            toObject() {
                const data: {
                    volume?: ReturnType<typeof Volume.prototype.toObject>;
                    status?: ReturnType<typeof ListVolumesResponse.VolumeStatus.prototype.toObject>;
                } = {};
                if (this.volume != null) {
                    data.volume = this.volume.toObject();
                }
                if (this.status != null) {
                    data.status = this.status.toObject();
                }
                return data;
            }
            serialize(): Uint8Array;
            serialize(w: pb_1.BinaryWriter): void;
            serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
                const writer = w || new pb_1.BinaryWriter();
                if (this.has_volume)
                    writer.writeMessage(1, this.volume, () => this.volume?.serialize(writer));
                if (this.has_status)
                    writer.writeMessage(2, this.status, () => this.status?.serialize(writer));
                if (!w)
                    return writer.getResultBuffer();
            }
            static deserialize(bytes: Uint8Array | pb_1.BinaryReader): Entry {
                const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new Entry();
                while (reader.nextField()) {
                    if (reader.isEndGroup())
                        break;
                    switch (reader.getFieldNumber()) {
                        case 1:
                            reader.readMessage(message.volume, () => message.volume = Volume.deserialize(reader));
                            break;
                        case 2:
                            reader.readMessage(message.status, () => message.status = ListVolumesResponse.VolumeStatus.deserialize(reader));
                            break;
                        default: reader.skipField();
                    }
                }
                return message;
            }
            serializeBinary(): Uint8Array {
                return this.serialize();
            }
            static override deserializeBinary(bytes: Uint8Array): Entry {
                return Entry.deserialize(bytes);
            }
        }
    }
    export class GetCapacityRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            volume_capabilities?: VolumeCapability[];
            parameters?: Map<string, string>;
            accessible_topology?: Topology;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [1], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("volume_capabilities" in data && data.volume_capabilities != undefined) {
                    this.volume_capabilities = data.volume_capabilities;
                }
                if ("parameters" in data && data.parameters != undefined) {
                    this.parameters = data.parameters;
                }
                if ("accessible_topology" in data && data.accessible_topology != undefined) {
                    this.accessible_topology = data.accessible_topology;
                }
            }
            if (!this.parameters)
                this.parameters = new Map();
        }
        get volume_capabilities() {
            return pb_1.Message.getRepeatedWrapperField(this, VolumeCapability, 1) as VolumeCapability[];
        }
        set volume_capabilities(value: VolumeCapability[]) {
            pb_1.Message.setRepeatedWrapperField(this, 1, value);
        }
        get parameters() {
            return pb_1.Message.getField(this, 2) as any as Map<string, string>;
        }
        set parameters(value: Map<string, string>) {
            pb_1.Message.setField(this, 2, value as any);
        }
        get accessible_topology(): Topology | undefined {
            return pb_1.Message.getWrapperField(this, Topology, 3) as Topology | undefined;
        }
        set accessible_topology(value: Topology) {
            pb_1.Message.setWrapperField(this, 3, value);
        }
        get has_accessible_topology() {
            return pb_1.Message.getField(this, 3) != null;
        }
        static fromObject(data: {
            volume_capabilities?: ReturnType<typeof VolumeCapability.prototype.toObject>[];
            parameters?: {
                [key: string]: string;
            };
            accessible_topology?: ReturnType<typeof Topology.prototype.toObject>;
        }): GetCapacityRequest {
            const message = new GetCapacityRequest({});
            if (data.volume_capabilities != null) {
                message.volume_capabilities = data.volume_capabilities.map(item => VolumeCapability.fromObject(item));
            }
            if (typeof data.parameters == "object") {
                message.parameters = new Map(Object.entries(data.parameters));
            }
            if (data.accessible_topology != null) {
                message.accessible_topology = Topology.fromObject(data.accessible_topology);
            }
            return message;
        }
        toObject() {
            const data: {
                volume_capabilities?: ReturnType<typeof VolumeCapability.prototype.toObject>[];
                parameters?: {
                    [key: string]: string;
                };
                accessible_topology?: ReturnType<typeof Topology.prototype.toObject>;
            } = {};
            if (this.volume_capabilities != null) {
                data.volume_capabilities = this.volume_capabilities.map((item: VolumeCapability) => item.toObject());
            }
            if (this.parameters != null) {
                data.parameters = (Object.fromEntries)(this.parameters);
            }
            if (this.accessible_topology != null) {
                data.accessible_topology = this.accessible_topology.toObject();
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.volume_capabilities.length)
                writer.writeRepeatedMessage(1, this.volume_capabilities, (item: VolumeCapability) => item.serialize(writer));
            for (const [key, value] of this.parameters) {
                writer.writeMessage(2, this.parameters, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            if (this.has_accessible_topology)
                writer.writeMessage(3, this.accessible_topology, () => this.accessible_topology?.serialize(writer));
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): GetCapacityRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new GetCapacityRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        reader.readMessage(message.volume_capabilities, () => pb_1.Message.addToRepeatedWrapperField(message, 1, VolumeCapability.deserialize(reader), VolumeCapability));
                        break;
                    case 2:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.parameters as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    case 3:
                        reader.readMessage(message.accessible_topology, () => message.accessible_topology = Topology.deserialize(reader));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): GetCapacityRequest {
            return GetCapacityRequest.deserialize(bytes);
        }
    }
    export class GetCapacityResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            available_capacity?: string;
            maximum_volume_size?: dependency_2.google.protobuf.Int64Value;
            minimum_volume_size?: dependency_2.google.protobuf.Int64Value;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("available_capacity" in data && data.available_capacity != undefined) {
                    this.available_capacity = data.available_capacity;
                }
                if ("maximum_volume_size" in data && data.maximum_volume_size != undefined) {
                    this.maximum_volume_size = data.maximum_volume_size;
                }
                if ("minimum_volume_size" in data && data.minimum_volume_size != undefined) {
                    this.minimum_volume_size = data.minimum_volume_size;
                }
            }
        }
        get available_capacity() {
            return pb_1.Message.getFieldWithDefault(this, 1, "0") as string;
        }
        set available_capacity(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get maximum_volume_size(): dependency_2.google.protobuf.Int64Value | undefined {
            return pb_1.Message.getWrapperField(this, dependency_2.google.protobuf.Int64Value, 2) as dependency_2.google.protobuf.Int64Value | undefined;
        }
        set maximum_volume_size(value: dependency_2.google.protobuf.Int64Value) {
            pb_1.Message.setWrapperField(this, 2, value);
        }
        get has_maximum_volume_size() {
            return pb_1.Message.getField(this, 2) != null;
        }
        get minimum_volume_size(): dependency_2.google.protobuf.Int64Value | undefined {
            return pb_1.Message.getWrapperField(this, dependency_2.google.protobuf.Int64Value, 3) as dependency_2.google.protobuf.Int64Value | undefined;
        }
        set minimum_volume_size(value: dependency_2.google.protobuf.Int64Value) {
            pb_1.Message.setWrapperField(this, 3, value);
        }
        get has_minimum_volume_size() {
            return pb_1.Message.getField(this, 3) != null;
        }
        static fromObject(data: {
            available_capacity?: string;
            maximum_volume_size?: ReturnType<typeof dependency_2.google.protobuf.Int64Value.prototype.toObject>;
            minimum_volume_size?: ReturnType<typeof dependency_2.google.protobuf.Int64Value.prototype.toObject>;
        }): GetCapacityResponse {
            const message = new GetCapacityResponse({});
            if (data.available_capacity != null) {
                message.available_capacity = data.available_capacity;
            }
            if (data.maximum_volume_size != null) {
                message.maximum_volume_size = dependency_2.google.protobuf.Int64Value.fromObject(data.maximum_volume_size);
            }
            if (data.minimum_volume_size != null) {
                message.minimum_volume_size = dependency_2.google.protobuf.Int64Value.fromObject(data.minimum_volume_size);
            }
            return message;
        }
        toObject() {
            const data: {
                available_capacity?: string;
                maximum_volume_size?: ReturnType<typeof dependency_2.google.protobuf.Int64Value.prototype.toObject>;
                minimum_volume_size?: ReturnType<typeof dependency_2.google.protobuf.Int64Value.prototype.toObject>;
            } = {};
            if (this.available_capacity != null) {
                data.available_capacity = this.available_capacity;
            }
            if (this.maximum_volume_size != null) {
                data.maximum_volume_size = this.maximum_volume_size.toObject();
            }
            if (this.minimum_volume_size != null) {
                data.minimum_volume_size = this.minimum_volume_size.toObject();
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.available_capacity != "0")
                writer.writeInt64String(1, this.available_capacity);
            if (this.has_maximum_volume_size)
                writer.writeMessage(2, this.maximum_volume_size, () => this.maximum_volume_size?.serialize(writer));
            if (this.has_minimum_volume_size)
                writer.writeMessage(3, this.minimum_volume_size, () => this.minimum_volume_size?.serialize(writer));
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): GetCapacityResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new GetCapacityResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.available_capacity = reader.readInt64String();
                        break;
                    case 2:
                        reader.readMessage(message.maximum_volume_size, () => message.maximum_volume_size = dependency_2.google.protobuf.Int64Value.deserialize(reader));
                        break;
                    case 3:
                        reader.readMessage(message.minimum_volume_size, () => message.minimum_volume_size = dependency_2.google.protobuf.Int64Value.deserialize(reader));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): GetCapacityResponse {
            return GetCapacityResponse.deserialize(bytes);
        }
    }
    export class ControllerGetCapabilitiesRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {}) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") { }
        }
        static fromObject(data: {}): ControllerGetCapabilitiesRequest {
            const message = new ControllerGetCapabilitiesRequest({});
            return message;
        }
        toObject() {
            const data: {} = {};
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): ControllerGetCapabilitiesRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new ControllerGetCapabilitiesRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): ControllerGetCapabilitiesRequest {
            return ControllerGetCapabilitiesRequest.deserialize(bytes);
        }
    }
    export class ControllerGetCapabilitiesResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            capabilities?: ControllerServiceCapability[];
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [1], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("capabilities" in data && data.capabilities != undefined) {
                    this.capabilities = data.capabilities;
                }
            }
        }
        get capabilities() {
            return pb_1.Message.getRepeatedWrapperField(this, ControllerServiceCapability, 1) as ControllerServiceCapability[];
        }
        set capabilities(value: ControllerServiceCapability[]) {
            pb_1.Message.setRepeatedWrapperField(this, 1, value);
        }
        static fromObject(data: {
            capabilities?: ReturnType<typeof ControllerServiceCapability.prototype.toObject>[];
        }): ControllerGetCapabilitiesResponse {
            const message = new ControllerGetCapabilitiesResponse({});
            if (data.capabilities != null) {
                message.capabilities = data.capabilities.map(item => ControllerServiceCapability.fromObject(item));
            }
            return message;
        }
        toObject() {
            const data: {
                capabilities?: ReturnType<typeof ControllerServiceCapability.prototype.toObject>[];
            } = {};
            if (this.capabilities != null) {
                data.capabilities = this.capabilities.map((item: ControllerServiceCapability) => item.toObject());
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.capabilities.length)
                writer.writeRepeatedMessage(1, this.capabilities, (item: ControllerServiceCapability) => item.serialize(writer));
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): ControllerGetCapabilitiesResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new ControllerGetCapabilitiesResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        reader.readMessage(message.capabilities, () => pb_1.Message.addToRepeatedWrapperField(message, 1, ControllerServiceCapability.deserialize(reader), ControllerServiceCapability));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): ControllerGetCapabilitiesResponse {
            return ControllerGetCapabilitiesResponse.deserialize(bytes);
        }
    }
    export class ControllerServiceCapability extends pb_1.Message {
        #one_of_decls: number[][] = [[1]];
        constructor(data?: any[] | ({} & (({
            rpc?: ControllerServiceCapability.RPC;
        })))) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("rpc" in data && data.rpc != undefined) {
                    this.rpc = data.rpc;
                }
            }
        }
        get rpc(): ControllerServiceCapability.RPC | undefined {
            return pb_1.Message.getWrapperField(this, ControllerServiceCapability.RPC, 1) as ControllerServiceCapability.RPC | undefined;
        }
        set rpc(value: ControllerServiceCapability.RPC) {
            pb_1.Message.setOneofWrapperField(this, 1, this.#one_of_decls[0], value);
        }
        get has_rpc() {
            return pb_1.Message.getField(this, 1) != null;
        }
        get type() {
            const cases: {
                [index: number]: "none" | "rpc";
            } = {
                0: "none",
                1: "rpc"
            };
            return cases[pb_1.Message.computeOneofCase(this, [1])];
        }
        static fromObject(data: {
            rpc?: ReturnType<typeof ControllerServiceCapability.RPC.prototype.toObject>;
        }): ControllerServiceCapability {
            const message = new ControllerServiceCapability({});
            if (data.rpc != null) {
                message.rpc = ControllerServiceCapability.RPC.fromObject(data.rpc);
            }
            return message;
        }
        toObject() {
            const data: {
                rpc?: ReturnType<typeof ControllerServiceCapability.RPC.prototype.toObject>;
            } = {};
            if (this.rpc != null) {
                data.rpc = this.rpc.toObject();
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.has_rpc)
                writer.writeMessage(1, this.rpc, () => this.rpc?.serialize(writer));
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): ControllerServiceCapability {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new ControllerServiceCapability();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        reader.readMessage(message.rpc, () => message.rpc = ControllerServiceCapability.RPC.deserialize(reader));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): ControllerServiceCapability {
            return ControllerServiceCapability.deserialize(bytes);
        }
    }
    export namespace ControllerServiceCapability {
        export class RPC extends pb_1.Message {
            #one_of_decls: number[][] = [];
            constructor(data?: any[] | {
                type?: ControllerServiceCapability.RPC.Type;
            }) {
                super();
                pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
                if (!Array.isArray(data) && typeof data == "object") {
                    if ("type" in data && data.type != undefined) {
                        this.type = data.type;
                    }
                }
            }
            get type() {
                return pb_1.Message.getFieldWithDefault(this, 1, ControllerServiceCapability.RPC.Type.UNKNOWN) as ControllerServiceCapability.RPC.Type;
            }
            set type(value: ControllerServiceCapability.RPC.Type) {
                pb_1.Message.setField(this, 1, value);
            }
            static fromObject(data: {
                type?: ControllerServiceCapability.RPC.Type;
            }): RPC {
                const message = new RPC({});
                if (data.type != null) {
                    message.type = data.type;
                }
                return message;
            }
            toObject() {
                const data: {
                    type?: ControllerServiceCapability.RPC.Type;
                } = {};
                if (this.type != null) {
                    data.type = this.type;
                }
                return data;
            }
            serialize(): Uint8Array;
            serialize(w: pb_1.BinaryWriter): void;
            serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
                const writer = w || new pb_1.BinaryWriter();
                if (this.type != ControllerServiceCapability.RPC.Type.UNKNOWN)
                    writer.writeEnum(1, this.type);
                if (!w)
                    return writer.getResultBuffer();
            }
            static deserialize(bytes: Uint8Array | pb_1.BinaryReader): RPC {
                const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new RPC();
                while (reader.nextField()) {
                    if (reader.isEndGroup())
                        break;
                    switch (reader.getFieldNumber()) {
                        case 1:
                            message.type = reader.readEnum();
                            break;
                        default: reader.skipField();
                    }
                }
                return message;
            }
            serializeBinary(): Uint8Array {
                return this.serialize();
            }
            static override deserializeBinary(bytes: Uint8Array): RPC {
                return RPC.deserialize(bytes);
            }
        }
        export namespace RPC {
            export enum Type {
                UNKNOWN = 0,
                CREATE_DELETE_VOLUME = 1,
                PUBLISH_UNPUBLISH_VOLUME = 2,
                LIST_VOLUMES = 3,
                GET_CAPACITY = 4,
                CREATE_DELETE_SNAPSHOT = 5,
                LIST_SNAPSHOTS = 6,
                CLONE_VOLUME = 7,
                PUBLISH_READONLY = 8,
                EXPAND_VOLUME = 9,
                LIST_VOLUMES_PUBLISHED_NODES = 10,
                VOLUME_CONDITION = 11,
                GET_VOLUME = 12,
                SINGLE_NODE_MULTI_WRITER = 13,
                MODIFY_VOLUME = 14,
                GET_SNAPSHOT = 15
            }
        }
    }
    export class CreateSnapshotRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            source_volume_id?: string;
            name?: string;
            secrets?: Map<string, string>;
            parameters?: Map<string, string>;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("source_volume_id" in data && data.source_volume_id != undefined) {
                    this.source_volume_id = data.source_volume_id;
                }
                if ("name" in data && data.name != undefined) {
                    this.name = data.name;
                }
                if ("secrets" in data && data.secrets != undefined) {
                    this.secrets = data.secrets;
                }
                if ("parameters" in data && data.parameters != undefined) {
                    this.parameters = data.parameters;
                }
            }
            if (!this.secrets)
                this.secrets = new Map();
            if (!this.parameters)
                this.parameters = new Map();
        }
        get source_volume_id() {
            return pb_1.Message.getFieldWithDefault(this, 1, "") as string;
        }
        set source_volume_id(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get name() {
            return pb_1.Message.getFieldWithDefault(this, 2, "") as string;
        }
        set name(value: string) {
            pb_1.Message.setField(this, 2, value);
        }
        get secrets() {
            return pb_1.Message.getField(this, 3) as any as Map<string, string>;
        }
        set secrets(value: Map<string, string>) {
            pb_1.Message.setField(this, 3, value as any);
        }
        get parameters() {
            return pb_1.Message.getField(this, 4) as any as Map<string, string>;
        }
        set parameters(value: Map<string, string>) {
            pb_1.Message.setField(this, 4, value as any);
        }
        static fromObject(data: {
            source_volume_id?: string;
            name?: string;
            secrets?: {
                [key: string]: string;
            };
            parameters?: {
                [key: string]: string;
            };
        }): CreateSnapshotRequest {
            const message = new CreateSnapshotRequest({});
            if (data.source_volume_id != null) {
                message.source_volume_id = data.source_volume_id;
            }
            if (data.name != null) {
                message.name = data.name;
            }
            if (typeof data.secrets == "object") {
                message.secrets = new Map(Object.entries(data.secrets));
            }
            if (typeof data.parameters == "object") {
                message.parameters = new Map(Object.entries(data.parameters));
            }
            return message;
        }
        toObject() {
            const data: {
                source_volume_id?: string;
                name?: string;
                secrets?: {
                    [key: string]: string;
                };
                parameters?: {
                    [key: string]: string;
                };
            } = {};
            if (this.source_volume_id != null) {
                data.source_volume_id = this.source_volume_id;
            }
            if (this.name != null) {
                data.name = this.name;
            }
            if (this.secrets != null) {
                data.secrets = (Object.fromEntries)(this.secrets);
            }
            if (this.parameters != null) {
                data.parameters = (Object.fromEntries)(this.parameters);
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.source_volume_id.length)
                writer.writeString(1, this.source_volume_id);
            if (this.name.length)
                writer.writeString(2, this.name);
            for (const [key, value] of this.secrets) {
                writer.writeMessage(3, this.secrets, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            for (const [key, value] of this.parameters) {
                writer.writeMessage(4, this.parameters, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): CreateSnapshotRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new CreateSnapshotRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.source_volume_id = reader.readString();
                        break;
                    case 2:
                        message.name = reader.readString();
                        break;
                    case 3:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.secrets as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    case 4:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.parameters as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): CreateSnapshotRequest {
            return CreateSnapshotRequest.deserialize(bytes);
        }
    }
    export class CreateSnapshotResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            snapshot?: Snapshot;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("snapshot" in data && data.snapshot != undefined) {
                    this.snapshot = data.snapshot;
                }
            }
        }
        get snapshot(): Snapshot | undefined {
            return pb_1.Message.getWrapperField(this, Snapshot, 1) as Snapshot | undefined;
        }
        set snapshot(value: Snapshot) {
            pb_1.Message.setWrapperField(this, 1, value);
        }
        get has_snapshot() {
            return pb_1.Message.getField(this, 1) != null;
        }
        static fromObject(data: {
            snapshot?: ReturnType<typeof Snapshot.prototype.toObject>;
        }): CreateSnapshotResponse {
            const message = new CreateSnapshotResponse({});
            if (data.snapshot != null) {
                message.snapshot = Snapshot.fromObject(data.snapshot);
            }
            return message;
        }
        toObject() {
            const data: {
                snapshot?: ReturnType<typeof Snapshot.prototype.toObject>;
            } = {};
            if (this.snapshot != null) {
                data.snapshot = this.snapshot.toObject();
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.has_snapshot)
                writer.writeMessage(1, this.snapshot, () => this.snapshot?.serialize(writer));
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): CreateSnapshotResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new CreateSnapshotResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        reader.readMessage(message.snapshot, () => message.snapshot = Snapshot.deserialize(reader));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): CreateSnapshotResponse {
            return CreateSnapshotResponse.deserialize(bytes);
        }
    }
    export class Snapshot extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            size_bytes?: string;
            snapshot_id?: string;
            source_volume_id?: string;
            creation_time?: dependency_1.google.protobuf.Timestamp;
            ready_to_use?: boolean;
            group_snapshot_id?: string;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("size_bytes" in data && data.size_bytes != undefined) {
                    this.size_bytes = data.size_bytes;
                }
                if ("snapshot_id" in data && data.snapshot_id != undefined) {
                    this.snapshot_id = data.snapshot_id;
                }
                if ("source_volume_id" in data && data.source_volume_id != undefined) {
                    this.source_volume_id = data.source_volume_id;
                }
                if ("creation_time" in data && data.creation_time != undefined) {
                    this.creation_time = data.creation_time;
                }
                if ("ready_to_use" in data && data.ready_to_use != undefined) {
                    this.ready_to_use = data.ready_to_use;
                }
                if ("group_snapshot_id" in data && data.group_snapshot_id != undefined) {
                    this.group_snapshot_id = data.group_snapshot_id;
                }
            }
        }
        get size_bytes() {
            return pb_1.Message.getFieldWithDefault(this, 1, "0") as string;
        }
        set size_bytes(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get snapshot_id() {
            return pb_1.Message.getFieldWithDefault(this, 2, "") as string;
        }
        set snapshot_id(value: string) {
            pb_1.Message.setField(this, 2, value);
        }
        get source_volume_id() {
            return pb_1.Message.getFieldWithDefault(this, 3, "") as string;
        }
        set source_volume_id(value: string) {
            pb_1.Message.setField(this, 3, value);
        }
        get creation_time(): dependency_1.google.protobuf.Timestamp | undefined {
            return pb_1.Message.getWrapperField(this, dependency_1.google.protobuf.Timestamp, 4) as dependency_1.google.protobuf.Timestamp | undefined;
        }
        set creation_time(value: dependency_1.google.protobuf.Timestamp) {
            pb_1.Message.setWrapperField(this, 4, value);
        }
        get has_creation_time() {
            return pb_1.Message.getField(this, 4) != null;
        }
        get ready_to_use() {
            return pb_1.Message.getFieldWithDefault(this, 5, false) as boolean;
        }
        set ready_to_use(value: boolean) {
            pb_1.Message.setField(this, 5, value);
        }
        get group_snapshot_id() {
            return pb_1.Message.getFieldWithDefault(this, 6, "") as string;
        }
        set group_snapshot_id(value: string) {
            pb_1.Message.setField(this, 6, value);
        }
        static fromObject(data: {
            size_bytes?: string;
            snapshot_id?: string;
            source_volume_id?: string;
            creation_time?: ReturnType<typeof dependency_1.google.protobuf.Timestamp.prototype.toObject>;
            ready_to_use?: boolean;
            group_snapshot_id?: string;
        }): Snapshot {
            const message = new Snapshot({});
            if (data.size_bytes != null) {
                message.size_bytes = data.size_bytes;
            }
            if (data.snapshot_id != null) {
                message.snapshot_id = data.snapshot_id;
            }
            if (data.source_volume_id != null) {
                message.source_volume_id = data.source_volume_id;
            }
            if (data.creation_time != null) {
                message.creation_time = dependency_1.google.protobuf.Timestamp.fromObject(data.creation_time);
            }
            if (data.ready_to_use != null) {
                message.ready_to_use = data.ready_to_use;
            }
            if (data.group_snapshot_id != null) {
                message.group_snapshot_id = data.group_snapshot_id;
            }
            return message;
        }
        toObject() {
            const data: {
                size_bytes?: string;
                snapshot_id?: string;
                source_volume_id?: string;
                creation_time?: ReturnType<typeof dependency_1.google.protobuf.Timestamp.prototype.toObject>;
                ready_to_use?: boolean;
                group_snapshot_id?: string;
            } = {};
            if (this.size_bytes != null) {
                data.size_bytes = this.size_bytes;
            }
            if (this.snapshot_id != null) {
                data.snapshot_id = this.snapshot_id;
            }
            if (this.source_volume_id != null) {
                data.source_volume_id = this.source_volume_id;
            }
            if (this.creation_time != null) {
                data.creation_time = this.creation_time.toObject();
            }
            if (this.ready_to_use != null) {
                data.ready_to_use = this.ready_to_use;
            }
            if (this.group_snapshot_id != null) {
                data.group_snapshot_id = this.group_snapshot_id;
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.size_bytes != "0")
                writer.writeInt64String(1, this.size_bytes);
            if (this.snapshot_id.length)
                writer.writeString(2, this.snapshot_id);
            if (this.source_volume_id.length)
                writer.writeString(3, this.source_volume_id);
            if (this.has_creation_time)
                writer.writeMessage(4, this.creation_time, () => this.creation_time?.serialize(writer));
            if (this.ready_to_use != false)
                writer.writeBool(5, this.ready_to_use);
            if (this.group_snapshot_id.length)
                writer.writeString(6, this.group_snapshot_id);
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): Snapshot {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new Snapshot();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.size_bytes = reader.readInt64String();
                        break;
                    case 2:
                        message.snapshot_id = reader.readString();
                        break;
                    case 3:
                        message.source_volume_id = reader.readString();
                        break;
                    case 4:
                        reader.readMessage(message.creation_time, () => message.creation_time = dependency_1.google.protobuf.Timestamp.deserialize(reader));
                        break;
                    case 5:
                        message.ready_to_use = reader.readBool();
                        break;
                    case 6:
                        message.group_snapshot_id = reader.readString();
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): Snapshot {
            return Snapshot.deserialize(bytes);
        }
    }
    export class DeleteSnapshotRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            snapshot_id?: string;
            secrets?: Map<string, string>;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("snapshot_id" in data && data.snapshot_id != undefined) {
                    this.snapshot_id = data.snapshot_id;
                }
                if ("secrets" in data && data.secrets != undefined) {
                    this.secrets = data.secrets;
                }
            }
            if (!this.secrets)
                this.secrets = new Map();
        }
        get snapshot_id() {
            return pb_1.Message.getFieldWithDefault(this, 1, "") as string;
        }
        set snapshot_id(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get secrets() {
            return pb_1.Message.getField(this, 2) as any as Map<string, string>;
        }
        set secrets(value: Map<string, string>) {
            pb_1.Message.setField(this, 2, value as any);
        }
        static fromObject(data: {
            snapshot_id?: string;
            secrets?: {
                [key: string]: string;
            };
        }): DeleteSnapshotRequest {
            const message = new DeleteSnapshotRequest({});
            if (data.snapshot_id != null) {
                message.snapshot_id = data.snapshot_id;
            }
            if (typeof data.secrets == "object") {
                message.secrets = new Map(Object.entries(data.secrets));
            }
            return message;
        }
        toObject() {
            const data: {
                snapshot_id?: string;
                secrets?: {
                    [key: string]: string;
                };
            } = {};
            if (this.snapshot_id != null) {
                data.snapshot_id = this.snapshot_id;
            }
            if (this.secrets != null) {
                data.secrets = (Object.fromEntries)(this.secrets);
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.snapshot_id.length)
                writer.writeString(1, this.snapshot_id);
            for (const [key, value] of this.secrets) {
                writer.writeMessage(2, this.secrets, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): DeleteSnapshotRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new DeleteSnapshotRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.snapshot_id = reader.readString();
                        break;
                    case 2:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.secrets as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): DeleteSnapshotRequest {
            return DeleteSnapshotRequest.deserialize(bytes);
        }
    }
    export class DeleteSnapshotResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {}) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") { }
        }
        static fromObject(data: {}): DeleteSnapshotResponse {
            const message = new DeleteSnapshotResponse({});
            return message;
        }
        toObject() {
            const data: {} = {};
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): DeleteSnapshotResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new DeleteSnapshotResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): DeleteSnapshotResponse {
            return DeleteSnapshotResponse.deserialize(bytes);
        }
    }
    export class ListSnapshotsRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            max_entries?: number;
            starting_token?: string;
            source_volume_id?: string;
            snapshot_id?: string;
            secrets?: Map<string, string>;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("max_entries" in data && data.max_entries != undefined) {
                    this.max_entries = data.max_entries;
                }
                if ("starting_token" in data && data.starting_token != undefined) {
                    this.starting_token = data.starting_token;
                }
                if ("source_volume_id" in data && data.source_volume_id != undefined) {
                    this.source_volume_id = data.source_volume_id;
                }
                if ("snapshot_id" in data && data.snapshot_id != undefined) {
                    this.snapshot_id = data.snapshot_id;
                }
                if ("secrets" in data && data.secrets != undefined) {
                    this.secrets = data.secrets;
                }
            }
            if (!this.secrets)
                this.secrets = new Map();
        }
        get max_entries() {
            return pb_1.Message.getFieldWithDefault(this, 1, 0) as number;
        }
        set max_entries(value: number) {
            pb_1.Message.setField(this, 1, value);
        }
        get starting_token() {
            return pb_1.Message.getFieldWithDefault(this, 2, "") as string;
        }
        set starting_token(value: string) {
            pb_1.Message.setField(this, 2, value);
        }
        get source_volume_id() {
            return pb_1.Message.getFieldWithDefault(this, 3, "") as string;
        }
        set source_volume_id(value: string) {
            pb_1.Message.setField(this, 3, value);
        }
        get snapshot_id() {
            return pb_1.Message.getFieldWithDefault(this, 4, "") as string;
        }
        set snapshot_id(value: string) {
            pb_1.Message.setField(this, 4, value);
        }
        get secrets() {
            return pb_1.Message.getField(this, 5) as any as Map<string, string>;
        }
        set secrets(value: Map<string, string>) {
            pb_1.Message.setField(this, 5, value as any);
        }
        static fromObject(data: {
            max_entries?: number;
            starting_token?: string;
            source_volume_id?: string;
            snapshot_id?: string;
            secrets?: {
                [key: string]: string;
            };
        }): ListSnapshotsRequest {
            const message = new ListSnapshotsRequest({});
            if (data.max_entries != null) {
                message.max_entries = data.max_entries;
            }
            if (data.starting_token != null) {
                message.starting_token = data.starting_token;
            }
            if (data.source_volume_id != null) {
                message.source_volume_id = data.source_volume_id;
            }
            if (data.snapshot_id != null) {
                message.snapshot_id = data.snapshot_id;
            }
            if (typeof data.secrets == "object") {
                message.secrets = new Map(Object.entries(data.secrets));
            }
            return message;
        }
        toObject() {
            const data: {
                max_entries?: number;
                starting_token?: string;
                source_volume_id?: string;
                snapshot_id?: string;
                secrets?: {
                    [key: string]: string;
                };
            } = {};
            if (this.max_entries != null) {
                data.max_entries = this.max_entries;
            }
            if (this.starting_token != null) {
                data.starting_token = this.starting_token;
            }
            if (this.source_volume_id != null) {
                data.source_volume_id = this.source_volume_id;
            }
            if (this.snapshot_id != null) {
                data.snapshot_id = this.snapshot_id;
            }
            if (this.secrets != null) {
                data.secrets = (Object.fromEntries)(this.secrets);
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.max_entries != 0)
                writer.writeInt32(1, this.max_entries);
            if (this.starting_token.length)
                writer.writeString(2, this.starting_token);
            if (this.source_volume_id.length)
                writer.writeString(3, this.source_volume_id);
            if (this.snapshot_id.length)
                writer.writeString(4, this.snapshot_id);
            for (const [key, value] of this.secrets) {
                writer.writeMessage(5, this.secrets, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): ListSnapshotsRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new ListSnapshotsRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.max_entries = reader.readInt32();
                        break;
                    case 2:
                        message.starting_token = reader.readString();
                        break;
                    case 3:
                        message.source_volume_id = reader.readString();
                        break;
                    case 4:
                        message.snapshot_id = reader.readString();
                        break;
                    case 5:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.secrets as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): ListSnapshotsRequest {
            return ListSnapshotsRequest.deserialize(bytes);
        }
    }
    export class ListSnapshotsResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            entries?: ListSnapshotsResponse.Entry[];
            next_token?: string;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [1], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("entries" in data && data.entries != undefined) {
                    this.entries = data.entries;
                }
                if ("next_token" in data && data.next_token != undefined) {
                    this.next_token = data.next_token;
                }
            }
        }
        get entries() {
            return pb_1.Message.getRepeatedWrapperField(this, ListSnapshotsResponse.Entry, 1) as ListSnapshotsResponse.Entry[];
        }
        set entries(value: ListSnapshotsResponse.Entry[]) {
            pb_1.Message.setRepeatedWrapperField(this, 1, value);
        }
        get next_token() {
            return pb_1.Message.getFieldWithDefault(this, 2, "") as string;
        }
        set next_token(value: string) {
            pb_1.Message.setField(this, 2, value);
        }
        static fromObject(data: {
            entries?: ReturnType<typeof ListSnapshotsResponse.Entry.prototype.toObject>[];
            next_token?: string;
        }): ListSnapshotsResponse {
            const message = new ListSnapshotsResponse({});
            if (data.entries != null) {
                message.entries = data.entries.map(item => ListSnapshotsResponse.Entry.fromObject(item));
            }
            if (data.next_token != null) {
                message.next_token = data.next_token;
            }
            return message;
        }
        toObject() {
            const data: {
                entries?: ReturnType<typeof ListSnapshotsResponse.Entry.prototype.toObject>[];
                next_token?: string;
            } = {};
            if (this.entries != null) {
                data.entries = this.entries.map((item: ListSnapshotsResponse.Entry) => item.toObject());
            }
            if (this.next_token != null) {
                data.next_token = this.next_token;
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.entries.length)
                writer.writeRepeatedMessage(1, this.entries, (item: ListSnapshotsResponse.Entry) => item.serialize(writer));
            if (this.next_token.length)
                writer.writeString(2, this.next_token);
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): ListSnapshotsResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new ListSnapshotsResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        reader.readMessage(message.entries, () => pb_1.Message.addToRepeatedWrapperField(message, 1, ListSnapshotsResponse.Entry.deserialize(reader), ListSnapshotsResponse.Entry));
                        break;
                    case 2:
                        message.next_token = reader.readString();
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): ListSnapshotsResponse {
            return ListSnapshotsResponse.deserialize(bytes);
        }
    }
    export namespace ListSnapshotsResponse {
        export class Entry extends pb_1.Message {
            #one_of_decls: number[][] = [];
            constructor(data?: any[] | {
                snapshot?: Snapshot;
            }) {
                super();
                pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
                if (!Array.isArray(data) && typeof data == "object") {
                    if ("snapshot" in data && data.snapshot != undefined) {
                        this.snapshot = data.snapshot;
                    }
                }
            }
            get snapshot(): Snapshot | undefined {
                return pb_1.Message.getWrapperField(this, Snapshot, 1) as Snapshot | undefined;
            }
            set snapshot(value: Snapshot) {
                pb_1.Message.setWrapperField(this, 1, value);
            }
            get has_snapshot() {
                return pb_1.Message.getField(this, 1) != null;
            }
            static fromObject(data: {
                snapshot?: ReturnType<typeof Snapshot.prototype.toObject>;
            }): Entry {
                const message = new Entry({});
                if (data.snapshot != null) {
                    message.snapshot = Snapshot.fromObject(data.snapshot);
                }
                return message;
            }
            toObject() {
                const data: {
                    snapshot?: ReturnType<typeof Snapshot.prototype.toObject>;
                } = {};
                if (this.snapshot != null) {
                    data.snapshot = this.snapshot.toObject();
                }
                return data;
            }
            serialize(): Uint8Array;
            serialize(w: pb_1.BinaryWriter): void;
            serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
                const writer = w || new pb_1.BinaryWriter();
                if (this.has_snapshot)
                    writer.writeMessage(1, this.snapshot, () => this.snapshot?.serialize(writer));
                if (!w)
                    return writer.getResultBuffer();
            }
            static deserialize(bytes: Uint8Array | pb_1.BinaryReader): Entry {
                const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new Entry();
                while (reader.nextField()) {
                    if (reader.isEndGroup())
                        break;
                    switch (reader.getFieldNumber()) {
                        case 1:
                            reader.readMessage(message.snapshot, () => message.snapshot = Snapshot.deserialize(reader));
                            break;
                        default: reader.skipField();
                    }
                }
                return message;
            }
            serializeBinary(): Uint8Array {
                return this.serialize();
            }
            static override deserializeBinary(bytes: Uint8Array): Entry {
                return Entry.deserialize(bytes);
            }
        }
    }
    export class GetSnapshotRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            snapshot_id?: string;
            secrets?: Map<string, string>;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("snapshot_id" in data && data.snapshot_id != undefined) {
                    this.snapshot_id = data.snapshot_id;
                }
                if ("secrets" in data && data.secrets != undefined) {
                    this.secrets = data.secrets;
                }
            }
            if (!this.secrets)
                this.secrets = new Map();
        }
        get snapshot_id() {
            return pb_1.Message.getFieldWithDefault(this, 1, "") as string;
        }
        set snapshot_id(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get secrets() {
            return pb_1.Message.getField(this, 2) as any as Map<string, string>;
        }
        set secrets(value: Map<string, string>) {
            pb_1.Message.setField(this, 2, value as any);
        }
        static fromObject(data: {
            snapshot_id?: string;
            secrets?: {
                [key: string]: string;
            };
        }): GetSnapshotRequest {
            const message = new GetSnapshotRequest({});
            if (data.snapshot_id != null) {
                message.snapshot_id = data.snapshot_id;
            }
            if (typeof data.secrets == "object") {
                message.secrets = new Map(Object.entries(data.secrets));
            }
            return message;
        }
        toObject() {
            const data: {
                snapshot_id?: string;
                secrets?: {
                    [key: string]: string;
                };
            } = {};
            if (this.snapshot_id != null) {
                data.snapshot_id = this.snapshot_id;
            }
            if (this.secrets != null) {
                data.secrets = (Object.fromEntries)(this.secrets);
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.snapshot_id.length)
                writer.writeString(1, this.snapshot_id);
            for (const [key, value] of this.secrets) {
                writer.writeMessage(2, this.secrets, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): GetSnapshotRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new GetSnapshotRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.snapshot_id = reader.readString();
                        break;
                    case 2:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.secrets as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): GetSnapshotRequest {
            return GetSnapshotRequest.deserialize(bytes);
        }
    }
    export class GetSnapshotResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            snapshot?: Snapshot;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("snapshot" in data && data.snapshot != undefined) {
                    this.snapshot = data.snapshot;
                }
            }
        }
        get snapshot(): Snapshot | undefined {
            return pb_1.Message.getWrapperField(this, Snapshot, 1) as Snapshot | undefined;
        }
        set snapshot(value: Snapshot) {
            pb_1.Message.setWrapperField(this, 1, value);
        }
        get has_snapshot() {
            return pb_1.Message.getField(this, 1) != null;
        }
        static fromObject(data: {
            snapshot?: ReturnType<typeof Snapshot.prototype.toObject>;
        }): GetSnapshotResponse {
            const message = new GetSnapshotResponse({});
            if (data.snapshot != null) {
                message.snapshot = Snapshot.fromObject(data.snapshot);
            }
            return message;
        }
        toObject() {
            const data: {
                snapshot?: ReturnType<typeof Snapshot.prototype.toObject>;
            } = {};
            if (this.snapshot != null) {
                data.snapshot = this.snapshot.toObject();
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.has_snapshot)
                writer.writeMessage(1, this.snapshot, () => this.snapshot?.serialize(writer));
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): GetSnapshotResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new GetSnapshotResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        reader.readMessage(message.snapshot, () => message.snapshot = Snapshot.deserialize(reader));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): GetSnapshotResponse {
            return GetSnapshotResponse.deserialize(bytes);
        }
    }
    export class ControllerExpandVolumeRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            volume_id?: string;
            capacity_range?: CapacityRange;
            secrets?: Map<string, string>;
            volume_capability?: VolumeCapability;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("volume_id" in data && data.volume_id != undefined) {
                    this.volume_id = data.volume_id;
                }
                if ("capacity_range" in data && data.capacity_range != undefined) {
                    this.capacity_range = data.capacity_range;
                }
                if ("secrets" in data && data.secrets != undefined) {
                    this.secrets = data.secrets;
                }
                if ("volume_capability" in data && data.volume_capability != undefined) {
                    this.volume_capability = data.volume_capability;
                }
            }
            if (!this.secrets)
                this.secrets = new Map();
        }
        get volume_id() {
            return pb_1.Message.getFieldWithDefault(this, 1, "") as string;
        }
        set volume_id(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get capacity_range(): CapacityRange | undefined {
            return pb_1.Message.getWrapperField(this, CapacityRange, 2) as CapacityRange | undefined;
        }
        set capacity_range(value: CapacityRange) {
            pb_1.Message.setWrapperField(this, 2, value);
        }
        get has_capacity_range() {
            return pb_1.Message.getField(this, 2) != null;
        }
        get secrets() {
            return pb_1.Message.getField(this, 3) as any as Map<string, string>;
        }
        set secrets(value: Map<string, string>) {
            pb_1.Message.setField(this, 3, value as any);
        }
        get volume_capability(): VolumeCapability | undefined {
            return pb_1.Message.getWrapperField(this, VolumeCapability, 4) as VolumeCapability | undefined;
        }
        set volume_capability(value: VolumeCapability) {
            pb_1.Message.setWrapperField(this, 4, value);
        }
        get has_volume_capability() {
            return pb_1.Message.getField(this, 4) != null;
        }
        static fromObject(data: {
            volume_id?: string;
            capacity_range?: ReturnType<typeof CapacityRange.prototype.toObject>;
            secrets?: {
                [key: string]: string;
            };
            volume_capability?: ReturnType<typeof VolumeCapability.prototype.toObject>;
        }): ControllerExpandVolumeRequest {
            const message = new ControllerExpandVolumeRequest({});
            if (data.volume_id != null) {
                message.volume_id = data.volume_id;
            }
            if (data.capacity_range != null) {
                message.capacity_range = CapacityRange.fromObject(data.capacity_range);
            }
            if (typeof data.secrets == "object") {
                message.secrets = new Map(Object.entries(data.secrets));
            }
            if (data.volume_capability != null) {
                message.volume_capability = VolumeCapability.fromObject(data.volume_capability);
            }
            return message;
        }
        toObject() {
            const data: {
                volume_id?: string;
                capacity_range?: ReturnType<typeof CapacityRange.prototype.toObject>;
                secrets?: {
                    [key: string]: string;
                };
                volume_capability?: ReturnType<typeof VolumeCapability.prototype.toObject>;
            } = {};
            if (this.volume_id != null) {
                data.volume_id = this.volume_id;
            }
            if (this.capacity_range != null) {
                data.capacity_range = this.capacity_range.toObject();
            }
            if (this.secrets != null) {
                data.secrets = (Object.fromEntries)(this.secrets);
            }
            if (this.volume_capability != null) {
                data.volume_capability = this.volume_capability.toObject();
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.volume_id.length)
                writer.writeString(1, this.volume_id);
            if (this.has_capacity_range)
                writer.writeMessage(2, this.capacity_range, () => this.capacity_range?.serialize(writer));
            for (const [key, value] of this.secrets) {
                writer.writeMessage(3, this.secrets, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            if (this.has_volume_capability)
                writer.writeMessage(4, this.volume_capability, () => this.volume_capability?.serialize(writer));
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): ControllerExpandVolumeRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new ControllerExpandVolumeRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.volume_id = reader.readString();
                        break;
                    case 2:
                        reader.readMessage(message.capacity_range, () => message.capacity_range = CapacityRange.deserialize(reader));
                        break;
                    case 3:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.secrets as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    case 4:
                        reader.readMessage(message.volume_capability, () => message.volume_capability = VolumeCapability.deserialize(reader));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): ControllerExpandVolumeRequest {
            return ControllerExpandVolumeRequest.deserialize(bytes);
        }
    }
    export class ControllerExpandVolumeResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            capacity_bytes?: string;
            node_expansion_required?: boolean;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("capacity_bytes" in data && data.capacity_bytes != undefined) {
                    this.capacity_bytes = data.capacity_bytes;
                }
                if ("node_expansion_required" in data && data.node_expansion_required != undefined) {
                    this.node_expansion_required = data.node_expansion_required;
                }
            }
        }
        get capacity_bytes() {
            return pb_1.Message.getFieldWithDefault(this, 1, "0") as string;
        }
        set capacity_bytes(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get node_expansion_required() {
            return pb_1.Message.getFieldWithDefault(this, 2, false) as boolean;
        }
        set node_expansion_required(value: boolean) {
            pb_1.Message.setField(this, 2, value);
        }
        static fromObject(data: {
            capacity_bytes?: string;
            node_expansion_required?: boolean;
        }): ControllerExpandVolumeResponse {
            const message = new ControllerExpandVolumeResponse({});
            if (data.capacity_bytes != null) {
                message.capacity_bytes = data.capacity_bytes;
            }
            if (data.node_expansion_required != null) {
                message.node_expansion_required = data.node_expansion_required;
            }
            return message;
        }
        toObject() {
            const data: {
                capacity_bytes?: string;
                node_expansion_required?: boolean;
            } = {};
            if (this.capacity_bytes != null) {
                data.capacity_bytes = this.capacity_bytes;
            }
            if (this.node_expansion_required != null) {
                data.node_expansion_required = this.node_expansion_required;
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.capacity_bytes != "0")
                writer.writeInt64String(1, this.capacity_bytes);
            if (this.node_expansion_required != false)
                writer.writeBool(2, this.node_expansion_required);
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): ControllerExpandVolumeResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new ControllerExpandVolumeResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.capacity_bytes = reader.readInt64String();
                        break;
                    case 2:
                        message.node_expansion_required = reader.readBool();
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): ControllerExpandVolumeResponse {
            return ControllerExpandVolumeResponse.deserialize(bytes);
        }
    }
    export class ControllerGetVolumeRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            volume_id?: string;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("volume_id" in data && data.volume_id != undefined) {
                    this.volume_id = data.volume_id;
                }
            }
        }
        get volume_id() {
            return pb_1.Message.getFieldWithDefault(this, 1, "") as string;
        }
        set volume_id(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        static fromObject(data: {
            volume_id?: string;
        }): ControllerGetVolumeRequest {
            const message = new ControllerGetVolumeRequest({});
            if (data.volume_id != null) {
                message.volume_id = data.volume_id;
            }
            return message;
        }
        toObject() {
            const data: {
                volume_id?: string;
            } = {};
            if (this.volume_id != null) {
                data.volume_id = this.volume_id;
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.volume_id.length)
                writer.writeString(1, this.volume_id);
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): ControllerGetVolumeRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new ControllerGetVolumeRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.volume_id = reader.readString();
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): ControllerGetVolumeRequest {
            return ControllerGetVolumeRequest.deserialize(bytes);
        }
    }
    export class ControllerGetVolumeResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            volume?: Volume;
            status?: ControllerGetVolumeResponse.VolumeStatus;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("volume" in data && data.volume != undefined) {
                    this.volume = data.volume;
                }
                if ("status" in data && data.status != undefined) {
                    this.status = data.status;
                }
            }
        }
        get volume(): Volume | undefined {
            return pb_1.Message.getWrapperField(this, Volume, 1) as Volume | undefined;
        }
        set volume(value: Volume) {
            pb_1.Message.setWrapperField(this, 1, value);
        }
        get has_volume() {
            return pb_1.Message.getField(this, 1) != null;
        }
        get status(): ControllerGetVolumeResponse.VolumeStatus | undefined {
            return pb_1.Message.getWrapperField(this, ControllerGetVolumeResponse.VolumeStatus, 2) as ControllerGetVolumeResponse.VolumeStatus | undefined;
        }
        set status(value: ControllerGetVolumeResponse.VolumeStatus) {
            pb_1.Message.setWrapperField(this, 2, value);
        }
        get has_status() {
            return pb_1.Message.getField(this, 2) != null;
        }
        static fromObject(data: {
            volume?: ReturnType<typeof Volume.prototype.toObject>;
            status?: ReturnType<typeof ControllerGetVolumeResponse.VolumeStatus.prototype.toObject>;
        }): ControllerGetVolumeResponse {
            const message = new ControllerGetVolumeResponse({});
            if (data.volume != null) {
                message.volume = Volume.fromObject(data.volume);
            }
            if (data.status != null) {
                message.status = ControllerGetVolumeResponse.VolumeStatus.fromObject(data.status);
            }
            return message;
        }
        toObject() {
            const data: {
                volume?: ReturnType<typeof Volume.prototype.toObject>;
                status?: ReturnType<typeof ControllerGetVolumeResponse.VolumeStatus.prototype.toObject>;
            } = {};
            if (this.volume != null) {
                data.volume = this.volume.toObject();
            }
            if (this.status != null) {
                data.status = this.status.toObject();
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.has_volume)
                writer.writeMessage(1, this.volume, () => this.volume?.serialize(writer));
            if (this.has_status)
                writer.writeMessage(2, this.status, () => this.status?.serialize(writer));
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): ControllerGetVolumeResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new ControllerGetVolumeResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        reader.readMessage(message.volume, () => message.volume = Volume.deserialize(reader));
                        break;
                    case 2:
                        reader.readMessage(message.status, () => message.status = ControllerGetVolumeResponse.VolumeStatus.deserialize(reader));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): ControllerGetVolumeResponse {
            return ControllerGetVolumeResponse.deserialize(bytes);
        }
    }
    export namespace ControllerGetVolumeResponse {
        export class VolumeStatus extends pb_1.Message {
            #one_of_decls: number[][] = [];
            constructor(data?: any[] | {
                published_node_ids?: string[];
                volume_condition?: VolumeCondition;
            }) {
                super();
                pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [1], this.#one_of_decls);
                if (!Array.isArray(data) && typeof data == "object") {
                    if ("published_node_ids" in data && data.published_node_ids != undefined) {
                        this.published_node_ids = data.published_node_ids;
                    }
                    if ("volume_condition" in data && data.volume_condition != undefined) {
                        this.volume_condition = data.volume_condition;
                    }
                }
            }
            get published_node_ids() {
                return pb_1.Message.getFieldWithDefault(this, 1, []) as string[];
            }
            set published_node_ids(value: string[]) {
                pb_1.Message.setField(this, 1, value);
            }
            get volume_condition(): VolumeCondition | undefined {
                return pb_1.Message.getWrapperField(this, VolumeCondition, 2) as VolumeCondition | undefined;
            }
            set volume_condition(value: VolumeCondition) {
                pb_1.Message.setWrapperField(this, 2, value);
            }
            get has_volume_condition() {
                return pb_1.Message.getField(this, 2) != null;
            }
            static fromObject(data: {
                published_node_ids?: string[];
                volume_condition?: ReturnType<typeof VolumeCondition.prototype.toObject>;
            }): VolumeStatus {
                const message = new VolumeStatus({});
                if (data.published_node_ids != null) {
                    message.published_node_ids = data.published_node_ids;
                }
                if (data.volume_condition != null) {
                    message.volume_condition = VolumeCondition.fromObject(data.volume_condition);
                }
                return message;
            }
            toObject() {
                const data: {
                    published_node_ids?: string[];
                    volume_condition?: ReturnType<typeof VolumeCondition.prototype.toObject>;
                } = {};
                if (this.published_node_ids != null) {
                    data.published_node_ids = this.published_node_ids;
                }
                if (this.volume_condition != null) {
                    data.volume_condition = this.volume_condition.toObject();
                }
                return data;
            }
            serialize(): Uint8Array;
            serialize(w: pb_1.BinaryWriter): void;
            serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
                const writer = w || new pb_1.BinaryWriter();
                if (this.published_node_ids.length)
                    writer.writeRepeatedString(1, this.published_node_ids);
                if (this.has_volume_condition)
                    writer.writeMessage(2, this.volume_condition, () => this.volume_condition?.serialize(writer));
                if (!w)
                    return writer.getResultBuffer();
            }
            static deserialize(bytes: Uint8Array | pb_1.BinaryReader): VolumeStatus {
                const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new VolumeStatus();
                while (reader.nextField()) {
                    if (reader.isEndGroup())
                        break;
                    switch (reader.getFieldNumber()) {
                        case 1:
                            pb_1.Message.addToRepeatedField(message, 1, reader.readString());
                            break;
                        case 2:
                            reader.readMessage(message.volume_condition, () => message.volume_condition = VolumeCondition.deserialize(reader));
                            break;
                        default: reader.skipField();
                    }
                }
                return message;
            }
            serializeBinary(): Uint8Array {
                return this.serialize();
            }
            static override deserializeBinary(bytes: Uint8Array): VolumeStatus {
                return VolumeStatus.deserialize(bytes);
            }
        }
    }
    export class ControllerModifyVolumeRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            volume_id?: string;
            secrets?: Map<string, string>;
            mutable_parameters?: Map<string, string>;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("volume_id" in data && data.volume_id != undefined) {
                    this.volume_id = data.volume_id;
                }
                if ("secrets" in data && data.secrets != undefined) {
                    this.secrets = data.secrets;
                }
                if ("mutable_parameters" in data && data.mutable_parameters != undefined) {
                    this.mutable_parameters = data.mutable_parameters;
                }
            }
            if (!this.secrets)
                this.secrets = new Map();
            if (!this.mutable_parameters)
                this.mutable_parameters = new Map();
        }
        get volume_id() {
            return pb_1.Message.getFieldWithDefault(this, 1, "") as string;
        }
        set volume_id(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get secrets() {
            return pb_1.Message.getField(this, 2) as any as Map<string, string>;
        }
        set secrets(value: Map<string, string>) {
            pb_1.Message.setField(this, 2, value as any);
        }
        get mutable_parameters() {
            return pb_1.Message.getField(this, 3) as any as Map<string, string>;
        }
        set mutable_parameters(value: Map<string, string>) {
            pb_1.Message.setField(this, 3, value as any);
        }
        static fromObject(data: {
            volume_id?: string;
            secrets?: {
                [key: string]: string;
            };
            mutable_parameters?: {
                [key: string]: string;
            };
        }): ControllerModifyVolumeRequest {
            const message = new ControllerModifyVolumeRequest({});
            if (data.volume_id != null) {
                message.volume_id = data.volume_id;
            }
            if (typeof data.secrets == "object") {
                message.secrets = new Map(Object.entries(data.secrets));
            }
            if (typeof data.mutable_parameters == "object") {
                message.mutable_parameters = new Map(Object.entries(data.mutable_parameters));
            }
            return message;
        }
        toObject() {
            const data: {
                volume_id?: string;
                secrets?: {
                    [key: string]: string;
                };
                mutable_parameters?: {
                    [key: string]: string;
                };
            } = {};
            if (this.volume_id != null) {
                data.volume_id = this.volume_id;
            }
            if (this.secrets != null) {
                data.secrets = (Object.fromEntries)(this.secrets);
            }
            if (this.mutable_parameters != null) {
                data.mutable_parameters = (Object.fromEntries)(this.mutable_parameters);
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.volume_id.length)
                writer.writeString(1, this.volume_id);
            for (const [key, value] of this.secrets) {
                writer.writeMessage(2, this.secrets, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            for (const [key, value] of this.mutable_parameters) {
                writer.writeMessage(3, this.mutable_parameters, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): ControllerModifyVolumeRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new ControllerModifyVolumeRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.volume_id = reader.readString();
                        break;
                    case 2:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.secrets as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    case 3:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.mutable_parameters as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): ControllerModifyVolumeRequest {
            return ControllerModifyVolumeRequest.deserialize(bytes);
        }
    }
    export class ControllerModifyVolumeResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {}) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") { }
        }
        static fromObject(data: {}): ControllerModifyVolumeResponse {
            const message = new ControllerModifyVolumeResponse({});
            return message;
        }
        toObject() {
            const data: {} = {};
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): ControllerModifyVolumeResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new ControllerModifyVolumeResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): ControllerModifyVolumeResponse {
            return ControllerModifyVolumeResponse.deserialize(bytes);
        }
    }
    export class VolumeCondition extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            abnormal?: boolean;
            message?: string;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("abnormal" in data && data.abnormal != undefined) {
                    this.abnormal = data.abnormal;
                }
                if ("message" in data && data.message != undefined) {
                    this.message = data.message;
                }
            }
        }
        get abnormal() {
            return pb_1.Message.getFieldWithDefault(this, 1, false) as boolean;
        }
        set abnormal(value: boolean) {
            pb_1.Message.setField(this, 1, value);
        }
        get message() {
            return pb_1.Message.getFieldWithDefault(this, 2, "") as string;
        }
        set message(value: string) {
            pb_1.Message.setField(this, 2, value);
        }
        static fromObject(data: {
            abnormal?: boolean;
            message?: string;
        }): VolumeCondition {
            const message = new VolumeCondition({});
            if (data.abnormal != null) {
                message.abnormal = data.abnormal;
            }
            if (data.message != null) {
                message.message = data.message;
            }
            return message;
        }
        toObject() {
            const data: {
                abnormal?: boolean;
                message?: string;
            } = {};
            if (this.abnormal != null) {
                data.abnormal = this.abnormal;
            }
            if (this.message != null) {
                data.message = this.message;
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.abnormal != false)
                writer.writeBool(1, this.abnormal);
            if (this.message.length)
                writer.writeString(2, this.message);
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): VolumeCondition {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new VolumeCondition();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.abnormal = reader.readBool();
                        break;
                    case 2:
                        message.message = reader.readString();
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): VolumeCondition {
            return VolumeCondition.deserialize(bytes);
        }
    }
    export class GroupControllerGetCapabilitiesRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {}) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") { }
        }
        static fromObject(data: {}): GroupControllerGetCapabilitiesRequest {
            const message = new GroupControllerGetCapabilitiesRequest({});
            return message;
        }
        toObject() {
            const data: {} = {};
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): GroupControllerGetCapabilitiesRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new GroupControllerGetCapabilitiesRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): GroupControllerGetCapabilitiesRequest {
            return GroupControllerGetCapabilitiesRequest.deserialize(bytes);
        }
    }
    export class GroupControllerGetCapabilitiesResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            capabilities?: GroupControllerServiceCapability[];
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [1], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("capabilities" in data && data.capabilities != undefined) {
                    this.capabilities = data.capabilities;
                }
            }
        }
        get capabilities() {
            return pb_1.Message.getRepeatedWrapperField(this, GroupControllerServiceCapability, 1) as GroupControllerServiceCapability[];
        }
        set capabilities(value: GroupControllerServiceCapability[]) {
            pb_1.Message.setRepeatedWrapperField(this, 1, value);
        }
        static fromObject(data: {
            capabilities?: ReturnType<typeof GroupControllerServiceCapability.prototype.toObject>[];
        }): GroupControllerGetCapabilitiesResponse {
            const message = new GroupControllerGetCapabilitiesResponse({});
            if (data.capabilities != null) {
                message.capabilities = data.capabilities.map(item => GroupControllerServiceCapability.fromObject(item));
            }
            return message;
        }
        toObject() {
            const data: {
                capabilities?: ReturnType<typeof GroupControllerServiceCapability.prototype.toObject>[];
            } = {};
            if (this.capabilities != null) {
                data.capabilities = this.capabilities.map((item: GroupControllerServiceCapability) => item.toObject());
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.capabilities.length)
                writer.writeRepeatedMessage(1, this.capabilities, (item: GroupControllerServiceCapability) => item.serialize(writer));
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): GroupControllerGetCapabilitiesResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new GroupControllerGetCapabilitiesResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        reader.readMessage(message.capabilities, () => pb_1.Message.addToRepeatedWrapperField(message, 1, GroupControllerServiceCapability.deserialize(reader), GroupControllerServiceCapability));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): GroupControllerGetCapabilitiesResponse {
            return GroupControllerGetCapabilitiesResponse.deserialize(bytes);
        }
    }
    export class GroupControllerServiceCapability extends pb_1.Message {
        #one_of_decls: number[][] = [[1]];
        constructor(data?: any[] | ({} & (({
            rpc?: GroupControllerServiceCapability.RPC;
        })))) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("rpc" in data && data.rpc != undefined) {
                    this.rpc = data.rpc;
                }
            }
        }
        get rpc(): GroupControllerServiceCapability.RPC | undefined {
            return pb_1.Message.getWrapperField(this, GroupControllerServiceCapability.RPC, 1) as GroupControllerServiceCapability.RPC | undefined;
        }
        set rpc(value: GroupControllerServiceCapability.RPC) {
            pb_1.Message.setOneofWrapperField(this, 1, this.#one_of_decls[0], value);
        }
        get has_rpc() {
            return pb_1.Message.getField(this, 1) != null;
        }
        get type() {
            const cases: {
                [index: number]: "none" | "rpc";
            } = {
                0: "none",
                1: "rpc"
            };
            return cases[pb_1.Message.computeOneofCase(this, [1])];
        }
        static fromObject(data: {
            rpc?: ReturnType<typeof GroupControllerServiceCapability.RPC.prototype.toObject>;
        }): GroupControllerServiceCapability {
            const message = new GroupControllerServiceCapability({});
            if (data.rpc != null) {
                message.rpc = GroupControllerServiceCapability.RPC.fromObject(data.rpc);
            }
            return message;
        }
        toObject() {
            const data: {
                rpc?: ReturnType<typeof GroupControllerServiceCapability.RPC.prototype.toObject>;
            } = {};
            if (this.rpc != null) {
                data.rpc = this.rpc.toObject();
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.has_rpc)
                writer.writeMessage(1, this.rpc, () => this.rpc?.serialize(writer));
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): GroupControllerServiceCapability {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new GroupControllerServiceCapability();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        reader.readMessage(message.rpc, () => message.rpc = GroupControllerServiceCapability.RPC.deserialize(reader));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): GroupControllerServiceCapability {
            return GroupControllerServiceCapability.deserialize(bytes);
        }
    }
    export namespace GroupControllerServiceCapability {
        export class RPC extends pb_1.Message {
            #one_of_decls: number[][] = [];
            constructor(data?: any[] | {
                type?: GroupControllerServiceCapability.RPC.Type;
            }) {
                super();
                pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
                if (!Array.isArray(data) && typeof data == "object") {
                    if ("type" in data && data.type != undefined) {
                        this.type = data.type;
                    }
                }
            }
            get type() {
                return pb_1.Message.getFieldWithDefault(this, 1, GroupControllerServiceCapability.RPC.Type.UNKNOWN) as GroupControllerServiceCapability.RPC.Type;
            }
            set type(value: GroupControllerServiceCapability.RPC.Type) {
                pb_1.Message.setField(this, 1, value);
            }
            static fromObject(data: {
                type?: GroupControllerServiceCapability.RPC.Type;
            }): RPC {
                const message = new RPC({});
                if (data.type != null) {
                    message.type = data.type;
                }
                return message;
            }
            toObject() {
                const data: {
                    type?: GroupControllerServiceCapability.RPC.Type;
                } = {};
                if (this.type != null) {
                    data.type = this.type;
                }
                return data;
            }
            serialize(): Uint8Array;
            serialize(w: pb_1.BinaryWriter): void;
            serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
                const writer = w || new pb_1.BinaryWriter();
                if (this.type != GroupControllerServiceCapability.RPC.Type.UNKNOWN)
                    writer.writeEnum(1, this.type);
                if (!w)
                    return writer.getResultBuffer();
            }
            static deserialize(bytes: Uint8Array | pb_1.BinaryReader): RPC {
                const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new RPC();
                while (reader.nextField()) {
                    if (reader.isEndGroup())
                        break;
                    switch (reader.getFieldNumber()) {
                        case 1:
                            message.type = reader.readEnum();
                            break;
                        default: reader.skipField();
                    }
                }
                return message;
            }
            serializeBinary(): Uint8Array {
                return this.serialize();
            }
            static override deserializeBinary(bytes: Uint8Array): RPC {
                return RPC.deserialize(bytes);
            }
        }
        export namespace RPC {
            export enum Type {
                UNKNOWN = 0,
                CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT = 1
            }
        }
    }
    export class CreateVolumeGroupSnapshotRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            name?: string;
            source_volume_ids?: string[];
            secrets?: Map<string, string>;
            parameters?: Map<string, string>;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [2], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("name" in data && data.name != undefined) {
                    this.name = data.name;
                }
                if ("source_volume_ids" in data && data.source_volume_ids != undefined) {
                    this.source_volume_ids = data.source_volume_ids;
                }
                if ("secrets" in data && data.secrets != undefined) {
                    this.secrets = data.secrets;
                }
                if ("parameters" in data && data.parameters != undefined) {
                    this.parameters = data.parameters;
                }
            }
            if (!this.secrets)
                this.secrets = new Map();
            if (!this.parameters)
                this.parameters = new Map();
        }
        get name() {
            return pb_1.Message.getFieldWithDefault(this, 1, "") as string;
        }
        set name(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get source_volume_ids() {
            return pb_1.Message.getFieldWithDefault(this, 2, []) as string[];
        }
        set source_volume_ids(value: string[]) {
            pb_1.Message.setField(this, 2, value);
        }
        get secrets() {
            return pb_1.Message.getField(this, 3) as any as Map<string, string>;
        }
        set secrets(value: Map<string, string>) {
            pb_1.Message.setField(this, 3, value as any);
        }
        get parameters() {
            return pb_1.Message.getField(this, 4) as any as Map<string, string>;
        }
        set parameters(value: Map<string, string>) {
            pb_1.Message.setField(this, 4, value as any);
        }
        static fromObject(data: {
            name?: string;
            source_volume_ids?: string[];
            secrets?: {
                [key: string]: string;
            };
            parameters?: {
                [key: string]: string;
            };
        }): CreateVolumeGroupSnapshotRequest {
            const message = new CreateVolumeGroupSnapshotRequest({});
            if (data.name != null) {
                message.name = data.name;
            }
            if (data.source_volume_ids != null) {
                message.source_volume_ids = data.source_volume_ids;
            }
            if (typeof data.secrets == "object") {
                message.secrets = new Map(Object.entries(data.secrets));
            }
            if (typeof data.parameters == "object") {
                message.parameters = new Map(Object.entries(data.parameters));
            }
            return message;
        }
        toObject() {
            const data: {
                name?: string;
                source_volume_ids?: string[];
                secrets?: {
                    [key: string]: string;
                };
                parameters?: {
                    [key: string]: string;
                };
            } = {};
            if (this.name != null) {
                data.name = this.name;
            }
            if (this.source_volume_ids != null) {
                data.source_volume_ids = this.source_volume_ids;
            }
            if (this.secrets != null) {
                data.secrets = (Object.fromEntries)(this.secrets);
            }
            if (this.parameters != null) {
                data.parameters = (Object.fromEntries)(this.parameters);
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.name.length)
                writer.writeString(1, this.name);
            if (this.source_volume_ids.length)
                writer.writeRepeatedString(2, this.source_volume_ids);
            for (const [key, value] of this.secrets) {
                writer.writeMessage(3, this.secrets, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            for (const [key, value] of this.parameters) {
                writer.writeMessage(4, this.parameters, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): CreateVolumeGroupSnapshotRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new CreateVolumeGroupSnapshotRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.name = reader.readString();
                        break;
                    case 2:
                        pb_1.Message.addToRepeatedField(message, 2, reader.readString());
                        break;
                    case 3:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.secrets as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    case 4:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.parameters as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): CreateVolumeGroupSnapshotRequest {
            return CreateVolumeGroupSnapshotRequest.deserialize(bytes);
        }
    }
    export class CreateVolumeGroupSnapshotResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            group_snapshot?: VolumeGroupSnapshot;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("group_snapshot" in data && data.group_snapshot != undefined) {
                    this.group_snapshot = data.group_snapshot;
                }
            }
        }
        get group_snapshot(): VolumeGroupSnapshot | undefined {
            return pb_1.Message.getWrapperField(this, VolumeGroupSnapshot, 1) as VolumeGroupSnapshot | undefined;
        }
        set group_snapshot(value: VolumeGroupSnapshot) {
            pb_1.Message.setWrapperField(this, 1, value);
        }
        get has_group_snapshot() {
            return pb_1.Message.getField(this, 1) != null;
        }
        static fromObject(data: {
            group_snapshot?: ReturnType<typeof VolumeGroupSnapshot.prototype.toObject>;
        }): CreateVolumeGroupSnapshotResponse {
            const message = new CreateVolumeGroupSnapshotResponse({});
            if (data.group_snapshot != null) {
                message.group_snapshot = VolumeGroupSnapshot.fromObject(data.group_snapshot);
            }
            return message;
        }
        toObject() {
            const data: {
                group_snapshot?: ReturnType<typeof VolumeGroupSnapshot.prototype.toObject>;
            } = {};
            if (this.group_snapshot != null) {
                data.group_snapshot = this.group_snapshot.toObject();
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.has_group_snapshot)
                writer.writeMessage(1, this.group_snapshot, () => this.group_snapshot?.serialize(writer));
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): CreateVolumeGroupSnapshotResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new CreateVolumeGroupSnapshotResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        reader.readMessage(message.group_snapshot, () => message.group_snapshot = VolumeGroupSnapshot.deserialize(reader));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): CreateVolumeGroupSnapshotResponse {
            return CreateVolumeGroupSnapshotResponse.deserialize(bytes);
        }
    }
    export class VolumeGroupSnapshot extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            group_snapshot_id?: string;
            snapshots?: Snapshot[];
            creation_time?: dependency_1.google.protobuf.Timestamp;
            ready_to_use?: boolean;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [2], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("group_snapshot_id" in data && data.group_snapshot_id != undefined) {
                    this.group_snapshot_id = data.group_snapshot_id;
                }
                if ("snapshots" in data && data.snapshots != undefined) {
                    this.snapshots = data.snapshots;
                }
                if ("creation_time" in data && data.creation_time != undefined) {
                    this.creation_time = data.creation_time;
                }
                if ("ready_to_use" in data && data.ready_to_use != undefined) {
                    this.ready_to_use = data.ready_to_use;
                }
            }
        }
        get group_snapshot_id() {
            return pb_1.Message.getFieldWithDefault(this, 1, "") as string;
        }
        set group_snapshot_id(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get snapshots() {
            return pb_1.Message.getRepeatedWrapperField(this, Snapshot, 2) as Snapshot[];
        }
        set snapshots(value: Snapshot[]) {
            pb_1.Message.setRepeatedWrapperField(this, 2, value);
        }
        get creation_time(): dependency_1.google.protobuf.Timestamp | undefined {
            return pb_1.Message.getWrapperField(this, dependency_1.google.protobuf.Timestamp, 3) as dependency_1.google.protobuf.Timestamp | undefined;
        }
        set creation_time(value: dependency_1.google.protobuf.Timestamp) {
            pb_1.Message.setWrapperField(this, 3, value);
        }
        get has_creation_time() {
            return pb_1.Message.getField(this, 3) != null;
        }
        get ready_to_use() {
            return pb_1.Message.getFieldWithDefault(this, 4, false) as boolean;
        }
        set ready_to_use(value: boolean) {
            pb_1.Message.setField(this, 4, value);
        }
        static fromObject(data: {
            group_snapshot_id?: string;
            snapshots?: ReturnType<typeof Snapshot.prototype.toObject>[];
            creation_time?: ReturnType<typeof dependency_1.google.protobuf.Timestamp.prototype.toObject>;
            ready_to_use?: boolean;
        }): VolumeGroupSnapshot {
            const message = new VolumeGroupSnapshot({});
            if (data.group_snapshot_id != null) {
                message.group_snapshot_id = data.group_snapshot_id;
            }
            if (data.snapshots != null) {
                message.snapshots = data.snapshots.map(item => Snapshot.fromObject(item));
            }
            if (data.creation_time != null) {
                message.creation_time = dependency_1.google.protobuf.Timestamp.fromObject(data.creation_time);
            }
            if (data.ready_to_use != null) {
                message.ready_to_use = data.ready_to_use;
            }
            return message;
        }
        toObject() {
            const data: {
                group_snapshot_id?: string;
                snapshots?: ReturnType<typeof Snapshot.prototype.toObject>[];
                creation_time?: ReturnType<typeof dependency_1.google.protobuf.Timestamp.prototype.toObject>;
                ready_to_use?: boolean;
            } = {};
            if (this.group_snapshot_id != null) {
                data.group_snapshot_id = this.group_snapshot_id;
            }
            if (this.snapshots != null) {
                data.snapshots = this.snapshots.map((item: Snapshot) => item.toObject());
            }
            if (this.creation_time != null) {
                data.creation_time = this.creation_time.toObject();
            }
            if (this.ready_to_use != null) {
                data.ready_to_use = this.ready_to_use;
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.group_snapshot_id.length)
                writer.writeString(1, this.group_snapshot_id);
            if (this.snapshots.length)
                writer.writeRepeatedMessage(2, this.snapshots, (item: Snapshot) => item.serialize(writer));
            if (this.has_creation_time)
                writer.writeMessage(3, this.creation_time, () => this.creation_time?.serialize(writer));
            if (this.ready_to_use != false)
                writer.writeBool(4, this.ready_to_use);
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): VolumeGroupSnapshot {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new VolumeGroupSnapshot();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.group_snapshot_id = reader.readString();
                        break;
                    case 2:
                        reader.readMessage(message.snapshots, () => pb_1.Message.addToRepeatedWrapperField(message, 2, Snapshot.deserialize(reader), Snapshot));
                        break;
                    case 3:
                        reader.readMessage(message.creation_time, () => message.creation_time = dependency_1.google.protobuf.Timestamp.deserialize(reader));
                        break;
                    case 4:
                        message.ready_to_use = reader.readBool();
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): VolumeGroupSnapshot {
            return VolumeGroupSnapshot.deserialize(bytes);
        }
    }
    export class DeleteVolumeGroupSnapshotRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            group_snapshot_id?: string;
            snapshot_ids?: string[];
            secrets?: Map<string, string>;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [2], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("group_snapshot_id" in data && data.group_snapshot_id != undefined) {
                    this.group_snapshot_id = data.group_snapshot_id;
                }
                if ("snapshot_ids" in data && data.snapshot_ids != undefined) {
                    this.snapshot_ids = data.snapshot_ids;
                }
                if ("secrets" in data && data.secrets != undefined) {
                    this.secrets = data.secrets;
                }
            }
            if (!this.secrets)
                this.secrets = new Map();
        }
        get group_snapshot_id() {
            return pb_1.Message.getFieldWithDefault(this, 1, "") as string;
        }
        set group_snapshot_id(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get snapshot_ids() {
            return pb_1.Message.getFieldWithDefault(this, 2, []) as string[];
        }
        set snapshot_ids(value: string[]) {
            pb_1.Message.setField(this, 2, value);
        }
        get secrets() {
            return pb_1.Message.getField(this, 3) as any as Map<string, string>;
        }
        set secrets(value: Map<string, string>) {
            pb_1.Message.setField(this, 3, value as any);
        }
        static fromObject(data: {
            group_snapshot_id?: string;
            snapshot_ids?: string[];
            secrets?: {
                [key: string]: string;
            };
        }): DeleteVolumeGroupSnapshotRequest {
            const message = new DeleteVolumeGroupSnapshotRequest({});
            if (data.group_snapshot_id != null) {
                message.group_snapshot_id = data.group_snapshot_id;
            }
            if (data.snapshot_ids != null) {
                message.snapshot_ids = data.snapshot_ids;
            }
            if (typeof data.secrets == "object") {
                message.secrets = new Map(Object.entries(data.secrets));
            }
            return message;
        }
        toObject() {
            const data: {
                group_snapshot_id?: string;
                snapshot_ids?: string[];
                secrets?: {
                    [key: string]: string;
                };
            } = {};
            if (this.group_snapshot_id != null) {
                data.group_snapshot_id = this.group_snapshot_id;
            }
            if (this.snapshot_ids != null) {
                data.snapshot_ids = this.snapshot_ids;
            }
            if (this.secrets != null) {
                data.secrets = (Object.fromEntries)(this.secrets);
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.group_snapshot_id.length)
                writer.writeString(1, this.group_snapshot_id);
            if (this.snapshot_ids.length)
                writer.writeRepeatedString(2, this.snapshot_ids);
            for (const [key, value] of this.secrets) {
                writer.writeMessage(3, this.secrets, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): DeleteVolumeGroupSnapshotRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new DeleteVolumeGroupSnapshotRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.group_snapshot_id = reader.readString();
                        break;
                    case 2:
                        pb_1.Message.addToRepeatedField(message, 2, reader.readString());
                        break;
                    case 3:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.secrets as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): DeleteVolumeGroupSnapshotRequest {
            return DeleteVolumeGroupSnapshotRequest.deserialize(bytes);
        }
    }
    export class DeleteVolumeGroupSnapshotResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {}) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") { }
        }
        static fromObject(data: {}): DeleteVolumeGroupSnapshotResponse {
            const message = new DeleteVolumeGroupSnapshotResponse({});
            return message;
        }
        toObject() {
            const data: {} = {};
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): DeleteVolumeGroupSnapshotResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new DeleteVolumeGroupSnapshotResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): DeleteVolumeGroupSnapshotResponse {
            return DeleteVolumeGroupSnapshotResponse.deserialize(bytes);
        }
    }
    export class GetVolumeGroupSnapshotRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            group_snapshot_id?: string;
            snapshot_ids?: string[];
            secrets?: Map<string, string>;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [2], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("group_snapshot_id" in data && data.group_snapshot_id != undefined) {
                    this.group_snapshot_id = data.group_snapshot_id;
                }
                if ("snapshot_ids" in data && data.snapshot_ids != undefined) {
                    this.snapshot_ids = data.snapshot_ids;
                }
                if ("secrets" in data && data.secrets != undefined) {
                    this.secrets = data.secrets;
                }
            }
            if (!this.secrets)
                this.secrets = new Map();
        }
        get group_snapshot_id() {
            return pb_1.Message.getFieldWithDefault(this, 1, "") as string;
        }
        set group_snapshot_id(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get snapshot_ids() {
            return pb_1.Message.getFieldWithDefault(this, 2, []) as string[];
        }
        set snapshot_ids(value: string[]) {
            pb_1.Message.setField(this, 2, value);
        }
        get secrets() {
            return pb_1.Message.getField(this, 3) as any as Map<string, string>;
        }
        set secrets(value: Map<string, string>) {
            pb_1.Message.setField(this, 3, value as any);
        }
        static fromObject(data: {
            group_snapshot_id?: string;
            snapshot_ids?: string[];
            secrets?: {
                [key: string]: string;
            };
        }): GetVolumeGroupSnapshotRequest {
            const message = new GetVolumeGroupSnapshotRequest({});
            if (data.group_snapshot_id != null) {
                message.group_snapshot_id = data.group_snapshot_id;
            }
            if (data.snapshot_ids != null) {
                message.snapshot_ids = data.snapshot_ids;
            }
            if (typeof data.secrets == "object") {
                message.secrets = new Map(Object.entries(data.secrets));
            }
            return message;
        }
        toObject() {
            const data: {
                group_snapshot_id?: string;
                snapshot_ids?: string[];
                secrets?: {
                    [key: string]: string;
                };
            } = {};
            if (this.group_snapshot_id != null) {
                data.group_snapshot_id = this.group_snapshot_id;
            }
            if (this.snapshot_ids != null) {
                data.snapshot_ids = this.snapshot_ids;
            }
            if (this.secrets != null) {
                data.secrets = (Object.fromEntries)(this.secrets);
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.group_snapshot_id.length)
                writer.writeString(1, this.group_snapshot_id);
            if (this.snapshot_ids.length)
                writer.writeRepeatedString(2, this.snapshot_ids);
            for (const [key, value] of this.secrets) {
                writer.writeMessage(3, this.secrets, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): GetVolumeGroupSnapshotRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new GetVolumeGroupSnapshotRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.group_snapshot_id = reader.readString();
                        break;
                    case 2:
                        pb_1.Message.addToRepeatedField(message, 2, reader.readString());
                        break;
                    case 3:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.secrets as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): GetVolumeGroupSnapshotRequest {
            return GetVolumeGroupSnapshotRequest.deserialize(bytes);
        }
    }
    export class GetVolumeGroupSnapshotResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            group_snapshot?: VolumeGroupSnapshot;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("group_snapshot" in data && data.group_snapshot != undefined) {
                    this.group_snapshot = data.group_snapshot;
                }
            }
        }
        get group_snapshot(): VolumeGroupSnapshot | undefined {
            return pb_1.Message.getWrapperField(this, VolumeGroupSnapshot, 1) as VolumeGroupSnapshot | undefined;
        }
        set group_snapshot(value: VolumeGroupSnapshot) {
            pb_1.Message.setWrapperField(this, 1, value);
        }
        get has_group_snapshot() {
            return pb_1.Message.getField(this, 1) != null;
        }
        static fromObject(data: {
            group_snapshot?: ReturnType<typeof VolumeGroupSnapshot.prototype.toObject>;
        }): GetVolumeGroupSnapshotResponse {
            const message = new GetVolumeGroupSnapshotResponse({});
            if (data.group_snapshot != null) {
                message.group_snapshot = VolumeGroupSnapshot.fromObject(data.group_snapshot);
            }
            return message;
        }
        toObject() {
            const data: {
                group_snapshot?: ReturnType<typeof VolumeGroupSnapshot.prototype.toObject>;
            } = {};
            if (this.group_snapshot != null) {
                data.group_snapshot = this.group_snapshot.toObject();
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.has_group_snapshot)
                writer.writeMessage(1, this.group_snapshot, () => this.group_snapshot?.serialize(writer));
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): GetVolumeGroupSnapshotResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new GetVolumeGroupSnapshotResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        reader.readMessage(message.group_snapshot, () => message.group_snapshot = VolumeGroupSnapshot.deserialize(reader));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): GetVolumeGroupSnapshotResponse {
            return GetVolumeGroupSnapshotResponse.deserialize(bytes);
        }
    }
    export class BlockMetadata extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            byte_offset?: string;
            size_bytes?: string;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("byte_offset" in data && data.byte_offset != undefined) {
                    this.byte_offset = data.byte_offset;
                }
                if ("size_bytes" in data && data.size_bytes != undefined) {
                    this.size_bytes = data.size_bytes;
                }
            }
        }
        get byte_offset() {
            return pb_1.Message.getFieldWithDefault(this, 1, "0") as string;
        }
        set byte_offset(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get size_bytes() {
            return pb_1.Message.getFieldWithDefault(this, 2, "0") as string;
        }
        set size_bytes(value: string) {
            pb_1.Message.setField(this, 2, value);
        }
        static fromObject(data: {
            byte_offset?: string;
            size_bytes?: string;
        }): BlockMetadata {
            const message = new BlockMetadata({});
            if (data.byte_offset != null) {
                message.byte_offset = data.byte_offset;
            }
            if (data.size_bytes != null) {
                message.size_bytes = data.size_bytes;
            }
            return message;
        }
        toObject() {
            const data: {
                byte_offset?: string;
                size_bytes?: string;
            } = {};
            if (this.byte_offset != null) {
                data.byte_offset = this.byte_offset;
            }
            if (this.size_bytes != null) {
                data.size_bytes = this.size_bytes;
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.byte_offset != "0")
                writer.writeInt64String(1, this.byte_offset);
            if (this.size_bytes != "0")
                writer.writeInt64String(2, this.size_bytes);
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): BlockMetadata {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new BlockMetadata();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.byte_offset = reader.readInt64String();
                        break;
                    case 2:
                        message.size_bytes = reader.readInt64String();
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): BlockMetadata {
            return BlockMetadata.deserialize(bytes);
        }
    }
    export class GetMetadataAllocatedRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            snapshot_id?: string;
            starting_offset?: string;
            max_results?: number;
            secrets?: Map<string, string>;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("snapshot_id" in data && data.snapshot_id != undefined) {
                    this.snapshot_id = data.snapshot_id;
                }
                if ("starting_offset" in data && data.starting_offset != undefined) {
                    this.starting_offset = data.starting_offset;
                }
                if ("max_results" in data && data.max_results != undefined) {
                    this.max_results = data.max_results;
                }
                if ("secrets" in data && data.secrets != undefined) {
                    this.secrets = data.secrets;
                }
            }
            if (!this.secrets)
                this.secrets = new Map();
        }
        get snapshot_id() {
            return pb_1.Message.getFieldWithDefault(this, 1, "") as string;
        }
        set snapshot_id(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get starting_offset() {
            return pb_1.Message.getFieldWithDefault(this, 2, "0") as string;
        }
        set starting_offset(value: string) {
            pb_1.Message.setField(this, 2, value);
        }
        get max_results() {
            return pb_1.Message.getFieldWithDefault(this, 3, 0) as number;
        }
        set max_results(value: number) {
            pb_1.Message.setField(this, 3, value);
        }
        get secrets() {
            return pb_1.Message.getField(this, 4) as any as Map<string, string>;
        }
        set secrets(value: Map<string, string>) {
            pb_1.Message.setField(this, 4, value as any);
        }
        static fromObject(data: {
            snapshot_id?: string;
            starting_offset?: string;
            max_results?: number;
            secrets?: {
                [key: string]: string;
            };
        }): GetMetadataAllocatedRequest {
            const message = new GetMetadataAllocatedRequest({});
            if (data.snapshot_id != null) {
                message.snapshot_id = data.snapshot_id;
            }
            if (data.starting_offset != null) {
                message.starting_offset = data.starting_offset;
            }
            if (data.max_results != null) {
                message.max_results = data.max_results;
            }
            if (typeof data.secrets == "object") {
                message.secrets = new Map(Object.entries(data.secrets));
            }
            return message;
        }
        toObject() {
            const data: {
                snapshot_id?: string;
                starting_offset?: string;
                max_results?: number;
                secrets?: {
                    [key: string]: string;
                };
            } = {};
            if (this.snapshot_id != null) {
                data.snapshot_id = this.snapshot_id;
            }
            if (this.starting_offset != null) {
                data.starting_offset = this.starting_offset;
            }
            if (this.max_results != null) {
                data.max_results = this.max_results;
            }
            if (this.secrets != null) {
                data.secrets = (Object.fromEntries)(this.secrets);
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.snapshot_id.length)
                writer.writeString(1, this.snapshot_id);
            if (this.starting_offset != "0")
                writer.writeInt64String(2, this.starting_offset);
            if (this.max_results != 0)
                writer.writeInt32(3, this.max_results);
            for (const [key, value] of this.secrets) {
                writer.writeMessage(4, this.secrets, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): GetMetadataAllocatedRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new GetMetadataAllocatedRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.snapshot_id = reader.readString();
                        break;
                    case 2:
                        message.starting_offset = reader.readInt64String();
                        break;
                    case 3:
                        message.max_results = reader.readInt32();
                        break;
                    case 4:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.secrets as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): GetMetadataAllocatedRequest {
            return GetMetadataAllocatedRequest.deserialize(bytes);
        }
    }
    export class GetMetadataAllocatedResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            block_metadata_type?: BlockMetadataType;
            volume_capacity_bytes?: string;
            block_metadata?: BlockMetadata[];
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [3], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("block_metadata_type" in data && data.block_metadata_type != undefined) {
                    this.block_metadata_type = data.block_metadata_type;
                }
                if ("volume_capacity_bytes" in data && data.volume_capacity_bytes != undefined) {
                    this.volume_capacity_bytes = data.volume_capacity_bytes;
                }
                if ("block_metadata" in data && data.block_metadata != undefined) {
                    this.block_metadata = data.block_metadata;
                }
            }
        }
        get block_metadata_type() {
            return pb_1.Message.getFieldWithDefault(this, 1, BlockMetadataType.UNKNOWN) as BlockMetadataType;
        }
        set block_metadata_type(value: BlockMetadataType) {
            pb_1.Message.setField(this, 1, value);
        }
        get volume_capacity_bytes() {
            return pb_1.Message.getFieldWithDefault(this, 2, "0") as string;
        }
        set volume_capacity_bytes(value: string) {
            pb_1.Message.setField(this, 2, value);
        }
        get block_metadata() {
            return pb_1.Message.getRepeatedWrapperField(this, BlockMetadata, 3) as BlockMetadata[];
        }
        set block_metadata(value: BlockMetadata[]) {
            pb_1.Message.setRepeatedWrapperField(this, 3, value);
        }
        static fromObject(data: {
            block_metadata_type?: BlockMetadataType;
            volume_capacity_bytes?: string;
            block_metadata?: ReturnType<typeof BlockMetadata.prototype.toObject>[];
        }): GetMetadataAllocatedResponse {
            const message = new GetMetadataAllocatedResponse({});
            if (data.block_metadata_type != null) {
                message.block_metadata_type = data.block_metadata_type;
            }
            if (data.volume_capacity_bytes != null) {
                message.volume_capacity_bytes = data.volume_capacity_bytes;
            }
            if (data.block_metadata != null) {
                message.block_metadata = data.block_metadata.map(item => BlockMetadata.fromObject(item));
            }
            return message;
        }
        toObject() {
            const data: {
                block_metadata_type?: BlockMetadataType;
                volume_capacity_bytes?: string;
                block_metadata?: ReturnType<typeof BlockMetadata.prototype.toObject>[];
            } = {};
            if (this.block_metadata_type != null) {
                data.block_metadata_type = this.block_metadata_type;
            }
            if (this.volume_capacity_bytes != null) {
                data.volume_capacity_bytes = this.volume_capacity_bytes;
            }
            if (this.block_metadata != null) {
                data.block_metadata = this.block_metadata.map((item: BlockMetadata) => item.toObject());
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.block_metadata_type != BlockMetadataType.UNKNOWN)
                writer.writeEnum(1, this.block_metadata_type);
            if (this.volume_capacity_bytes != "0")
                writer.writeInt64String(2, this.volume_capacity_bytes);
            if (this.block_metadata.length)
                writer.writeRepeatedMessage(3, this.block_metadata, (item: BlockMetadata) => item.serialize(writer));
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): GetMetadataAllocatedResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new GetMetadataAllocatedResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.block_metadata_type = reader.readEnum();
                        break;
                    case 2:
                        message.volume_capacity_bytes = reader.readInt64String();
                        break;
                    case 3:
                        reader.readMessage(message.block_metadata, () => pb_1.Message.addToRepeatedWrapperField(message, 3, BlockMetadata.deserialize(reader), BlockMetadata));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): GetMetadataAllocatedResponse {
            return GetMetadataAllocatedResponse.deserialize(bytes);
        }
    }
    export class GetMetadataDeltaRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            base_snapshot_id?: string;
            target_snapshot_id?: string;
            starting_offset?: string;
            max_results?: number;
            secrets?: Map<string, string>;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("base_snapshot_id" in data && data.base_snapshot_id != undefined) {
                    this.base_snapshot_id = data.base_snapshot_id;
                }
                if ("target_snapshot_id" in data && data.target_snapshot_id != undefined) {
                    this.target_snapshot_id = data.target_snapshot_id;
                }
                if ("starting_offset" in data && data.starting_offset != undefined) {
                    this.starting_offset = data.starting_offset;
                }
                if ("max_results" in data && data.max_results != undefined) {
                    this.max_results = data.max_results;
                }
                if ("secrets" in data && data.secrets != undefined) {
                    this.secrets = data.secrets;
                }
            }
            if (!this.secrets)
                this.secrets = new Map();
        }
        get base_snapshot_id() {
            return pb_1.Message.getFieldWithDefault(this, 1, "") as string;
        }
        set base_snapshot_id(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get target_snapshot_id() {
            return pb_1.Message.getFieldWithDefault(this, 2, "") as string;
        }
        set target_snapshot_id(value: string) {
            pb_1.Message.setField(this, 2, value);
        }
        get starting_offset() {
            return pb_1.Message.getFieldWithDefault(this, 3, "0") as string;
        }
        set starting_offset(value: string) {
            pb_1.Message.setField(this, 3, value);
        }
        get max_results() {
            return pb_1.Message.getFieldWithDefault(this, 4, 0) as number;
        }
        set max_results(value: number) {
            pb_1.Message.setField(this, 4, value);
        }
        get secrets() {
            return pb_1.Message.getField(this, 5) as any as Map<string, string>;
        }
        set secrets(value: Map<string, string>) {
            pb_1.Message.setField(this, 5, value as any);
        }
        static fromObject(data: {
            base_snapshot_id?: string;
            target_snapshot_id?: string;
            starting_offset?: string;
            max_results?: number;
            secrets?: {
                [key: string]: string;
            };
        }): GetMetadataDeltaRequest {
            const message = new GetMetadataDeltaRequest({});
            if (data.base_snapshot_id != null) {
                message.base_snapshot_id = data.base_snapshot_id;
            }
            if (data.target_snapshot_id != null) {
                message.target_snapshot_id = data.target_snapshot_id;
            }
            if (data.starting_offset != null) {
                message.starting_offset = data.starting_offset;
            }
            if (data.max_results != null) {
                message.max_results = data.max_results;
            }
            if (typeof data.secrets == "object") {
                message.secrets = new Map(Object.entries(data.secrets));
            }
            return message;
        }
        toObject() {
            const data: {
                base_snapshot_id?: string;
                target_snapshot_id?: string;
                starting_offset?: string;
                max_results?: number;
                secrets?: {
                    [key: string]: string;
                };
            } = {};
            if (this.base_snapshot_id != null) {
                data.base_snapshot_id = this.base_snapshot_id;
            }
            if (this.target_snapshot_id != null) {
                data.target_snapshot_id = this.target_snapshot_id;
            }
            if (this.starting_offset != null) {
                data.starting_offset = this.starting_offset;
            }
            if (this.max_results != null) {
                data.max_results = this.max_results;
            }
            if (this.secrets != null) {
                data.secrets = (Object.fromEntries)(this.secrets);
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.base_snapshot_id.length)
                writer.writeString(1, this.base_snapshot_id);
            if (this.target_snapshot_id.length)
                writer.writeString(2, this.target_snapshot_id);
            if (this.starting_offset != "0")
                writer.writeInt64String(3, this.starting_offset);
            if (this.max_results != 0)
                writer.writeInt32(4, this.max_results);
            for (const [key, value] of this.secrets) {
                writer.writeMessage(5, this.secrets, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): GetMetadataDeltaRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new GetMetadataDeltaRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.base_snapshot_id = reader.readString();
                        break;
                    case 2:
                        message.target_snapshot_id = reader.readString();
                        break;
                    case 3:
                        message.starting_offset = reader.readInt64String();
                        break;
                    case 4:
                        message.max_results = reader.readInt32();
                        break;
                    case 5:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.secrets as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): GetMetadataDeltaRequest {
            return GetMetadataDeltaRequest.deserialize(bytes);
        }
    }
    export class GetMetadataDeltaResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            block_metadata_type?: BlockMetadataType;
            volume_capacity_bytes?: string;
            block_metadata?: BlockMetadata[];
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [3], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("block_metadata_type" in data && data.block_metadata_type != undefined) {
                    this.block_metadata_type = data.block_metadata_type;
                }
                if ("volume_capacity_bytes" in data && data.volume_capacity_bytes != undefined) {
                    this.volume_capacity_bytes = data.volume_capacity_bytes;
                }
                if ("block_metadata" in data && data.block_metadata != undefined) {
                    this.block_metadata = data.block_metadata;
                }
            }
        }
        get block_metadata_type() {
            return pb_1.Message.getFieldWithDefault(this, 1, BlockMetadataType.UNKNOWN) as BlockMetadataType;
        }
        set block_metadata_type(value: BlockMetadataType) {
            pb_1.Message.setField(this, 1, value);
        }
        get volume_capacity_bytes() {
            return pb_1.Message.getFieldWithDefault(this, 2, "0") as string;
        }
        set volume_capacity_bytes(value: string) {
            pb_1.Message.setField(this, 2, value);
        }
        get block_metadata() {
            return pb_1.Message.getRepeatedWrapperField(this, BlockMetadata, 3) as BlockMetadata[];
        }
        set block_metadata(value: BlockMetadata[]) {
            pb_1.Message.setRepeatedWrapperField(this, 3, value);
        }
        static fromObject(data: {
            block_metadata_type?: BlockMetadataType;
            volume_capacity_bytes?: string;
            block_metadata?: ReturnType<typeof BlockMetadata.prototype.toObject>[];
        }): GetMetadataDeltaResponse {
            const message = new GetMetadataDeltaResponse({});
            if (data.block_metadata_type != null) {
                message.block_metadata_type = data.block_metadata_type;
            }
            if (data.volume_capacity_bytes != null) {
                message.volume_capacity_bytes = data.volume_capacity_bytes;
            }
            if (data.block_metadata != null) {
                message.block_metadata = data.block_metadata.map(item => BlockMetadata.fromObject(item));
            }
            return message;
        }
        toObject() {
            const data: {
                block_metadata_type?: BlockMetadataType;
                volume_capacity_bytes?: string;
                block_metadata?: ReturnType<typeof BlockMetadata.prototype.toObject>[];
            } = {};
            if (this.block_metadata_type != null) {
                data.block_metadata_type = this.block_metadata_type;
            }
            if (this.volume_capacity_bytes != null) {
                data.volume_capacity_bytes = this.volume_capacity_bytes;
            }
            if (this.block_metadata != null) {
                data.block_metadata = this.block_metadata.map((item: BlockMetadata) => item.toObject());
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.block_metadata_type != BlockMetadataType.UNKNOWN)
                writer.writeEnum(1, this.block_metadata_type);
            if (this.volume_capacity_bytes != "0")
                writer.writeInt64String(2, this.volume_capacity_bytes);
            if (this.block_metadata.length)
                writer.writeRepeatedMessage(3, this.block_metadata, (item: BlockMetadata) => item.serialize(writer));
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): GetMetadataDeltaResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new GetMetadataDeltaResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.block_metadata_type = reader.readEnum();
                        break;
                    case 2:
                        message.volume_capacity_bytes = reader.readInt64String();
                        break;
                    case 3:
                        reader.readMessage(message.block_metadata, () => pb_1.Message.addToRepeatedWrapperField(message, 3, BlockMetadata.deserialize(reader), BlockMetadata));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): GetMetadataDeltaResponse {
            return GetMetadataDeltaResponse.deserialize(bytes);
        }
    }
    export class NodeStageVolumeRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            volume_id?: string;
            publish_context?: Map<string, string>;
            staging_target_path?: string;
            volume_capability?: VolumeCapability;
            secrets?: Map<string, string>;
            volume_context?: Map<string, string>;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("volume_id" in data && data.volume_id != undefined) {
                    this.volume_id = data.volume_id;
                }
                if ("publish_context" in data && data.publish_context != undefined) {
                    this.publish_context = data.publish_context;
                }
                if ("staging_target_path" in data && data.staging_target_path != undefined) {
                    this.staging_target_path = data.staging_target_path;
                }
                if ("volume_capability" in data && data.volume_capability != undefined) {
                    this.volume_capability = data.volume_capability;
                }
                if ("secrets" in data && data.secrets != undefined) {
                    this.secrets = data.secrets;
                }
                if ("volume_context" in data && data.volume_context != undefined) {
                    this.volume_context = data.volume_context;
                }
            }
            if (!this.publish_context)
                this.publish_context = new Map();
            if (!this.secrets)
                this.secrets = new Map();
            if (!this.volume_context)
                this.volume_context = new Map();
        }
        get volume_id() {
            return pb_1.Message.getFieldWithDefault(this, 1, "") as string;
        }
        set volume_id(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get publish_context() {
            return pb_1.Message.getField(this, 2) as any as Map<string, string>;
        }
        set publish_context(value: Map<string, string>) {
            pb_1.Message.setField(this, 2, value as any);
        }
        get staging_target_path() {
            return pb_1.Message.getFieldWithDefault(this, 3, "") as string;
        }
        set staging_target_path(value: string) {
            pb_1.Message.setField(this, 3, value);
        }
        get volume_capability(): VolumeCapability | undefined {
            return pb_1.Message.getWrapperField(this, VolumeCapability, 4) as VolumeCapability | undefined;
        }
        set volume_capability(value: VolumeCapability) {
            pb_1.Message.setWrapperField(this, 4, value);
        }
        get has_volume_capability() {
            return pb_1.Message.getField(this, 4) != null;
        }
        get secrets() {
            return pb_1.Message.getField(this, 5) as any as Map<string, string>;
        }
        set secrets(value: Map<string, string>) {
            pb_1.Message.setField(this, 5, value as any);
        }
        get volume_context() {
            return pb_1.Message.getField(this, 6) as any as Map<string, string>;
        }
        set volume_context(value: Map<string, string>) {
            pb_1.Message.setField(this, 6, value as any);
        }
        static fromObject(data: {
            volume_id?: string;
            publish_context?: {
                [key: string]: string;
            };
            staging_target_path?: string;
            volume_capability?: ReturnType<typeof VolumeCapability.prototype.toObject>;
            secrets?: {
                [key: string]: string;
            };
            volume_context?: {
                [key: string]: string;
            };
        }): NodeStageVolumeRequest {
            const message = new NodeStageVolumeRequest({});
            if (data.volume_id != null) {
                message.volume_id = data.volume_id;
            }
            if (typeof data.publish_context == "object") {
                message.publish_context = new Map(Object.entries(data.publish_context));
            }
            if (data.staging_target_path != null) {
                message.staging_target_path = data.staging_target_path;
            }
            if (data.volume_capability != null) {
                message.volume_capability = VolumeCapability.fromObject(data.volume_capability);
            }
            if (typeof data.secrets == "object") {
                message.secrets = new Map(Object.entries(data.secrets));
            }
            if (typeof data.volume_context == "object") {
                message.volume_context = new Map(Object.entries(data.volume_context));
            }
            return message;
        }
        toObject() {
            const data: {
                volume_id?: string;
                publish_context?: {
                    [key: string]: string;
                };
                staging_target_path?: string;
                volume_capability?: ReturnType<typeof VolumeCapability.prototype.toObject>;
                secrets?: {
                    [key: string]: string;
                };
                volume_context?: {
                    [key: string]: string;
                };
            } = {};
            if (this.volume_id != null) {
                data.volume_id = this.volume_id;
            }
            if (this.publish_context != null) {
                data.publish_context = (Object.fromEntries)(this.publish_context);
            }
            if (this.staging_target_path != null) {
                data.staging_target_path = this.staging_target_path;
            }
            if (this.volume_capability != null) {
                data.volume_capability = this.volume_capability.toObject();
            }
            if (this.secrets != null) {
                data.secrets = (Object.fromEntries)(this.secrets);
            }
            if (this.volume_context != null) {
                data.volume_context = (Object.fromEntries)(this.volume_context);
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.volume_id.length)
                writer.writeString(1, this.volume_id);
            for (const [key, value] of this.publish_context) {
                writer.writeMessage(2, this.publish_context, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            if (this.staging_target_path.length)
                writer.writeString(3, this.staging_target_path);
            if (this.has_volume_capability)
                writer.writeMessage(4, this.volume_capability, () => this.volume_capability?.serialize(writer));
            for (const [key, value] of this.secrets) {
                writer.writeMessage(5, this.secrets, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            for (const [key, value] of this.volume_context) {
                writer.writeMessage(6, this.volume_context, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): NodeStageVolumeRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new NodeStageVolumeRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.volume_id = reader.readString();
                        break;
                    case 2:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.publish_context as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    case 3:
                        message.staging_target_path = reader.readString();
                        break;
                    case 4:
                        reader.readMessage(message.volume_capability, () => message.volume_capability = VolumeCapability.deserialize(reader));
                        break;
                    case 5:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.secrets as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    case 6:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.volume_context as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): NodeStageVolumeRequest {
            return NodeStageVolumeRequest.deserialize(bytes);
        }
    }
    export class NodeStageVolumeResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {}) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") { }
        }
        static fromObject(data: {}): NodeStageVolumeResponse {
            const message = new NodeStageVolumeResponse({});
            return message;
        }
        toObject() {
            const data: {} = {};
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): NodeStageVolumeResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new NodeStageVolumeResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): NodeStageVolumeResponse {
            return NodeStageVolumeResponse.deserialize(bytes);
        }
    }
    export class NodeUnstageVolumeRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            volume_id?: string;
            staging_target_path?: string;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("volume_id" in data && data.volume_id != undefined) {
                    this.volume_id = data.volume_id;
                }
                if ("staging_target_path" in data && data.staging_target_path != undefined) {
                    this.staging_target_path = data.staging_target_path;
                }
            }
        }
        get volume_id() {
            return pb_1.Message.getFieldWithDefault(this, 1, "") as string;
        }
        set volume_id(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get staging_target_path() {
            return pb_1.Message.getFieldWithDefault(this, 2, "") as string;
        }
        set staging_target_path(value: string) {
            pb_1.Message.setField(this, 2, value);
        }
        static fromObject(data: {
            volume_id?: string;
            staging_target_path?: string;
        }): NodeUnstageVolumeRequest {
            const message = new NodeUnstageVolumeRequest({});
            if (data.volume_id != null) {
                message.volume_id = data.volume_id;
            }
            if (data.staging_target_path != null) {
                message.staging_target_path = data.staging_target_path;
            }
            return message;
        }
        toObject() {
            const data: {
                volume_id?: string;
                staging_target_path?: string;
            } = {};
            if (this.volume_id != null) {
                data.volume_id = this.volume_id;
            }
            if (this.staging_target_path != null) {
                data.staging_target_path = this.staging_target_path;
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.volume_id.length)
                writer.writeString(1, this.volume_id);
            if (this.staging_target_path.length)
                writer.writeString(2, this.staging_target_path);
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): NodeUnstageVolumeRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new NodeUnstageVolumeRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.volume_id = reader.readString();
                        break;
                    case 2:
                        message.staging_target_path = reader.readString();
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): NodeUnstageVolumeRequest {
            return NodeUnstageVolumeRequest.deserialize(bytes);
        }
    }
    export class NodeUnstageVolumeResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {}) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") { }
        }
        static fromObject(data: {}): NodeUnstageVolumeResponse {
            const message = new NodeUnstageVolumeResponse({});
            return message;
        }
        toObject() {
            const data: {} = {};
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): NodeUnstageVolumeResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new NodeUnstageVolumeResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): NodeUnstageVolumeResponse {
            return NodeUnstageVolumeResponse.deserialize(bytes);
        }
    }
    export class NodePublishVolumeRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            volume_id?: string;
            publish_context?: Map<string, string>;
            staging_target_path?: string;
            target_path?: string;
            volume_capability?: VolumeCapability;
            readonly?: boolean;
            secrets?: Map<string, string>;
            volume_context?: Map<string, string>;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("volume_id" in data && data.volume_id != undefined) {
                    this.volume_id = data.volume_id;
                }
                if ("publish_context" in data && data.publish_context != undefined) {
                    this.publish_context = data.publish_context;
                }
                if ("staging_target_path" in data && data.staging_target_path != undefined) {
                    this.staging_target_path = data.staging_target_path;
                }
                if ("target_path" in data && data.target_path != undefined) {
                    this.target_path = data.target_path;
                }
                if ("volume_capability" in data && data.volume_capability != undefined) {
                    this.volume_capability = data.volume_capability;
                }
                if ("readonly" in data && data.readonly != undefined) {
                    this.readonly = data.readonly;
                }
                if ("secrets" in data && data.secrets != undefined) {
                    this.secrets = data.secrets;
                }
                if ("volume_context" in data && data.volume_context != undefined) {
                    this.volume_context = data.volume_context;
                }
            }
            if (!this.publish_context)
                this.publish_context = new Map();
            if (!this.secrets)
                this.secrets = new Map();
            if (!this.volume_context)
                this.volume_context = new Map();
        }
        get volume_id() {
            return pb_1.Message.getFieldWithDefault(this, 1, "") as string;
        }
        set volume_id(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get publish_context() {
            return pb_1.Message.getField(this, 2) as any as Map<string, string>;
        }
        set publish_context(value: Map<string, string>) {
            pb_1.Message.setField(this, 2, value as any);
        }
        get staging_target_path() {
            return pb_1.Message.getFieldWithDefault(this, 3, "") as string;
        }
        set staging_target_path(value: string) {
            pb_1.Message.setField(this, 3, value);
        }
        get target_path() {
            return pb_1.Message.getFieldWithDefault(this, 4, "") as string;
        }
        set target_path(value: string) {
            pb_1.Message.setField(this, 4, value);
        }
        get volume_capability(): VolumeCapability | undefined {
            return pb_1.Message.getWrapperField(this, VolumeCapability, 5) as VolumeCapability | undefined;
        }
        set volume_capability(value: VolumeCapability) {
            pb_1.Message.setWrapperField(this, 5, value);
        }
        get has_volume_capability() {
            return pb_1.Message.getField(this, 5) != null;
        }
        get readonly() {
            return pb_1.Message.getFieldWithDefault(this, 6, false) as boolean;
        }
        set readonly(value: boolean) {
            pb_1.Message.setField(this, 6, value);
        }
        get secrets() {
            return pb_1.Message.getField(this, 7) as any as Map<string, string>;
        }
        set secrets(value: Map<string, string>) {
            pb_1.Message.setField(this, 7, value as any);
        }
        get volume_context() {
            return pb_1.Message.getField(this, 8) as any as Map<string, string>;
        }
        set volume_context(value: Map<string, string>) {
            pb_1.Message.setField(this, 8, value as any);
        }
        static fromObject(data: {
            volume_id?: string;
            publish_context?: {
                [key: string]: string;
            };
            staging_target_path?: string;
            target_path?: string;
            volume_capability?: ReturnType<typeof VolumeCapability.prototype.toObject>;
            readonly?: boolean;
            secrets?: {
                [key: string]: string;
            };
            volume_context?: {
                [key: string]: string;
            };
        }): NodePublishVolumeRequest {
            const message = new NodePublishVolumeRequest({});
            if (data.volume_id != null) {
                message.volume_id = data.volume_id;
            }
            if (typeof data.publish_context == "object") {
                message.publish_context = new Map(Object.entries(data.publish_context));
            }
            if (data.staging_target_path != null) {
                message.staging_target_path = data.staging_target_path;
            }
            if (data.target_path != null) {
                message.target_path = data.target_path;
            }
            if (data.volume_capability != null) {
                message.volume_capability = VolumeCapability.fromObject(data.volume_capability);
            }
            if (data.readonly != null) {
                message.readonly = data.readonly;
            }
            if (typeof data.secrets == "object") {
                message.secrets = new Map(Object.entries(data.secrets));
            }
            if (typeof data.volume_context == "object") {
                message.volume_context = new Map(Object.entries(data.volume_context));
            }
            return message;
        }
        toObject() {
            const data: {
                volume_id?: string;
                publish_context?: {
                    [key: string]: string;
                };
                staging_target_path?: string;
                target_path?: string;
                volume_capability?: ReturnType<typeof VolumeCapability.prototype.toObject>;
                readonly?: boolean;
                secrets?: {
                    [key: string]: string;
                };
                volume_context?: {
                    [key: string]: string;
                };
            } = {};
            if (this.volume_id != null) {
                data.volume_id = this.volume_id;
            }
            if (this.publish_context != null) {
                data.publish_context = (Object.fromEntries)(this.publish_context);
            }
            if (this.staging_target_path != null) {
                data.staging_target_path = this.staging_target_path;
            }
            if (this.target_path != null) {
                data.target_path = this.target_path;
            }
            if (this.volume_capability != null) {
                data.volume_capability = this.volume_capability.toObject();
            }
            if (this.readonly != null) {
                data.readonly = this.readonly;
            }
            if (this.secrets != null) {
                data.secrets = (Object.fromEntries)(this.secrets);
            }
            if (this.volume_context != null) {
                data.volume_context = (Object.fromEntries)(this.volume_context);
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.volume_id.length)
                writer.writeString(1, this.volume_id);
            for (const [key, value] of this.publish_context) {
                writer.writeMessage(2, this.publish_context, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            if (this.staging_target_path.length)
                writer.writeString(3, this.staging_target_path);
            if (this.target_path.length)
                writer.writeString(4, this.target_path);
            if (this.has_volume_capability)
                writer.writeMessage(5, this.volume_capability, () => this.volume_capability?.serialize(writer));
            if (this.readonly != false)
                writer.writeBool(6, this.readonly);
            for (const [key, value] of this.secrets) {
                writer.writeMessage(7, this.secrets, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            for (const [key, value] of this.volume_context) {
                writer.writeMessage(8, this.volume_context, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): NodePublishVolumeRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new NodePublishVolumeRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.volume_id = reader.readString();
                        break;
                    case 2:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.publish_context as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    case 3:
                        message.staging_target_path = reader.readString();
                        break;
                    case 4:
                        message.target_path = reader.readString();
                        break;
                    case 5:
                        reader.readMessage(message.volume_capability, () => message.volume_capability = VolumeCapability.deserialize(reader));
                        break;
                    case 6:
                        message.readonly = reader.readBool();
                        break;
                    case 7:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.secrets as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    case 8:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.volume_context as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): NodePublishVolumeRequest {
            return NodePublishVolumeRequest.deserialize(bytes);
        }
    }
    export class NodePublishVolumeResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {}) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") { }
        }
        static fromObject(data: {}): NodePublishVolumeResponse {
            const message = new NodePublishVolumeResponse({});
            return message;
        }
        toObject() {
            const data: {} = {};
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): NodePublishVolumeResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new NodePublishVolumeResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): NodePublishVolumeResponse {
            return NodePublishVolumeResponse.deserialize(bytes);
        }
    }
    export class NodeUnpublishVolumeRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            volume_id?: string;
            target_path?: string;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("volume_id" in data && data.volume_id != undefined) {
                    this.volume_id = data.volume_id;
                }
                if ("target_path" in data && data.target_path != undefined) {
                    this.target_path = data.target_path;
                }
            }
        }
        get volume_id() {
            return pb_1.Message.getFieldWithDefault(this, 1, "") as string;
        }
        set volume_id(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get target_path() {
            return pb_1.Message.getFieldWithDefault(this, 2, "") as string;
        }
        set target_path(value: string) {
            pb_1.Message.setField(this, 2, value);
        }
        static fromObject(data: {
            volume_id?: string;
            target_path?: string;
        }): NodeUnpublishVolumeRequest {
            const message = new NodeUnpublishVolumeRequest({});
            if (data.volume_id != null) {
                message.volume_id = data.volume_id;
            }
            if (data.target_path != null) {
                message.target_path = data.target_path;
            }
            return message;
        }
        toObject() {
            const data: {
                volume_id?: string;
                target_path?: string;
            } = {};
            if (this.volume_id != null) {
                data.volume_id = this.volume_id;
            }
            if (this.target_path != null) {
                data.target_path = this.target_path;
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.volume_id.length)
                writer.writeString(1, this.volume_id);
            if (this.target_path.length)
                writer.writeString(2, this.target_path);
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): NodeUnpublishVolumeRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new NodeUnpublishVolumeRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.volume_id = reader.readString();
                        break;
                    case 2:
                        message.target_path = reader.readString();
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): NodeUnpublishVolumeRequest {
            return NodeUnpublishVolumeRequest.deserialize(bytes);
        }
    }
    export class NodeUnpublishVolumeResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {}) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") { }
        }
        static fromObject(data: {}): NodeUnpublishVolumeResponse {
            const message = new NodeUnpublishVolumeResponse({});
            return message;
        }
        toObject() {
            const data: {} = {};
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): NodeUnpublishVolumeResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new NodeUnpublishVolumeResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): NodeUnpublishVolumeResponse {
            return NodeUnpublishVolumeResponse.deserialize(bytes);
        }
    }
    export class NodeGetVolumeStatsRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            volume_id?: string;
            volume_path?: string;
            staging_target_path?: string;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("volume_id" in data && data.volume_id != undefined) {
                    this.volume_id = data.volume_id;
                }
                if ("volume_path" in data && data.volume_path != undefined) {
                    this.volume_path = data.volume_path;
                }
                if ("staging_target_path" in data && data.staging_target_path != undefined) {
                    this.staging_target_path = data.staging_target_path;
                }
            }
        }
        get volume_id() {
            return pb_1.Message.getFieldWithDefault(this, 1, "") as string;
        }
        set volume_id(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get volume_path() {
            return pb_1.Message.getFieldWithDefault(this, 2, "") as string;
        }
        set volume_path(value: string) {
            pb_1.Message.setField(this, 2, value);
        }
        get staging_target_path() {
            return pb_1.Message.getFieldWithDefault(this, 3, "") as string;
        }
        set staging_target_path(value: string) {
            pb_1.Message.setField(this, 3, value);
        }
        static fromObject(data: {
            volume_id?: string;
            volume_path?: string;
            staging_target_path?: string;
        }): NodeGetVolumeStatsRequest {
            const message = new NodeGetVolumeStatsRequest({});
            if (data.volume_id != null) {
                message.volume_id = data.volume_id;
            }
            if (data.volume_path != null) {
                message.volume_path = data.volume_path;
            }
            if (data.staging_target_path != null) {
                message.staging_target_path = data.staging_target_path;
            }
            return message;
        }
        toObject() {
            const data: {
                volume_id?: string;
                volume_path?: string;
                staging_target_path?: string;
            } = {};
            if (this.volume_id != null) {
                data.volume_id = this.volume_id;
            }
            if (this.volume_path != null) {
                data.volume_path = this.volume_path;
            }
            if (this.staging_target_path != null) {
                data.staging_target_path = this.staging_target_path;
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.volume_id.length)
                writer.writeString(1, this.volume_id);
            if (this.volume_path.length)
                writer.writeString(2, this.volume_path);
            if (this.staging_target_path.length)
                writer.writeString(3, this.staging_target_path);
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): NodeGetVolumeStatsRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new NodeGetVolumeStatsRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.volume_id = reader.readString();
                        break;
                    case 2:
                        message.volume_path = reader.readString();
                        break;
                    case 3:
                        message.staging_target_path = reader.readString();
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): NodeGetVolumeStatsRequest {
            return NodeGetVolumeStatsRequest.deserialize(bytes);
        }
    }
    export class NodeGetVolumeStatsResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            usage?: VolumeUsage[];
            volume_condition?: VolumeCondition;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [1], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("usage" in data && data.usage != undefined) {
                    this.usage = data.usage;
                }
                if ("volume_condition" in data && data.volume_condition != undefined) {
                    this.volume_condition = data.volume_condition;
                }
            }
        }
        get usage() {
            return pb_1.Message.getRepeatedWrapperField(this, VolumeUsage, 1) as VolumeUsage[];
        }
        set usage(value: VolumeUsage[]) {
            pb_1.Message.setRepeatedWrapperField(this, 1, value);
        }
        get volume_condition(): VolumeCondition | undefined {
            return pb_1.Message.getWrapperField(this, VolumeCondition, 2) as VolumeCondition | undefined;
        }
        set volume_condition(value: VolumeCondition) {
            pb_1.Message.setWrapperField(this, 2, value);
        }
        get has_volume_condition() {
            return pb_1.Message.getField(this, 2) != null;
        }
        static fromObject(data: {
            usage?: ReturnType<typeof VolumeUsage.prototype.toObject>[];
            volume_condition?: ReturnType<typeof VolumeCondition.prototype.toObject>;
        }): NodeGetVolumeStatsResponse {
            const message = new NodeGetVolumeStatsResponse({});
            if (data.usage != null) {
                message.usage = data.usage.map(item => VolumeUsage.fromObject(item));
            }
            if (data.volume_condition != null) {
                message.volume_condition = VolumeCondition.fromObject(data.volume_condition);
            }
            return message;
        }
        toObject() {
            const data: {
                usage?: ReturnType<typeof VolumeUsage.prototype.toObject>[];
                volume_condition?: ReturnType<typeof VolumeCondition.prototype.toObject>;
            } = {};
            if (this.usage != null) {
                data.usage = this.usage.map((item: VolumeUsage) => item.toObject());
            }
            if (this.volume_condition != null) {
                data.volume_condition = this.volume_condition.toObject();
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.usage.length)
                writer.writeRepeatedMessage(1, this.usage, (item: VolumeUsage) => item.serialize(writer));
            if (this.has_volume_condition)
                writer.writeMessage(2, this.volume_condition, () => this.volume_condition?.serialize(writer));
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): NodeGetVolumeStatsResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new NodeGetVolumeStatsResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        reader.readMessage(message.usage, () => pb_1.Message.addToRepeatedWrapperField(message, 1, VolumeUsage.deserialize(reader), VolumeUsage));
                        break;
                    case 2:
                        reader.readMessage(message.volume_condition, () => message.volume_condition = VolumeCondition.deserialize(reader));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): NodeGetVolumeStatsResponse {
            return NodeGetVolumeStatsResponse.deserialize(bytes);
        }
    }
    export class VolumeUsage extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            available?: string;
            total?: string;
            used?: string;
            unit?: VolumeUsage.Unit;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("available" in data && data.available != undefined) {
                    this.available = data.available;
                }
                if ("total" in data && data.total != undefined) {
                    this.total = data.total;
                }
                if ("used" in data && data.used != undefined) {
                    this.used = data.used;
                }
                if ("unit" in data && data.unit != undefined) {
                    this.unit = data.unit;
                }
            }
        }
        get available() {
            return pb_1.Message.getFieldWithDefault(this, 1, "0") as string;
        }
        set available(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get total() {
            return pb_1.Message.getFieldWithDefault(this, 2, "0") as string;
        }
        set total(value: string) {
            pb_1.Message.setField(this, 2, value);
        }
        get used() {
            return pb_1.Message.getFieldWithDefault(this, 3, "0") as string;
        }
        set used(value: string) {
            pb_1.Message.setField(this, 3, value);
        }
        get unit() {
            return pb_1.Message.getFieldWithDefault(this, 4, VolumeUsage.Unit.UNKNOWN) as VolumeUsage.Unit;
        }
        set unit(value: VolumeUsage.Unit) {
            pb_1.Message.setField(this, 4, value);
        }
        static fromObject(data: {
            available?: string;
            total?: string;
            used?: string;
            unit?: VolumeUsage.Unit;
        }): VolumeUsage {
            const message = new VolumeUsage({});
            if (data.available != null) {
                message.available = data.available;
            }
            if (data.total != null) {
                message.total = data.total;
            }
            if (data.used != null) {
                message.used = data.used;
            }
            if (data.unit != null) {
                message.unit = data.unit;
            }
            return message;
        }
        toObject() {
            const data: {
                available?: string;
                total?: string;
                used?: string;
                unit?: VolumeUsage.Unit;
            } = {};
            if (this.available != null) {
                data.available = this.available;
            }
            if (this.total != null) {
                data.total = this.total;
            }
            if (this.used != null) {
                data.used = this.used;
            }
            if (this.unit != null) {
                data.unit = this.unit;
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.available != "0")
                writer.writeInt64String(1, this.available);
            if (this.total != "0")
                writer.writeInt64String(2, this.total);
            if (this.used != "0")
                writer.writeInt64String(3, this.used);
            if (this.unit != VolumeUsage.Unit.UNKNOWN)
                writer.writeEnum(4, this.unit);
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): VolumeUsage {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new VolumeUsage();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.available = reader.readInt64String();
                        break;
                    case 2:
                        message.total = reader.readInt64String();
                        break;
                    case 3:
                        message.used = reader.readInt64String();
                        break;
                    case 4:
                        message.unit = reader.readEnum();
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): VolumeUsage {
            return VolumeUsage.deserialize(bytes);
        }
    }
    export namespace VolumeUsage {
        export enum Unit {
            UNKNOWN = 0,
            BYTES = 1,
            INODES = 2
        }
    }
    export class NodeExpandVolumeRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            volume_id?: string;
            volume_path?: string;
            capacity_range?: CapacityRange;
            staging_target_path?: string;
            volume_capability?: VolumeCapability;
            secrets?: Map<string, string>;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("volume_id" in data && data.volume_id != undefined) {
                    this.volume_id = data.volume_id;
                }
                if ("volume_path" in data && data.volume_path != undefined) {
                    this.volume_path = data.volume_path;
                }
                if ("capacity_range" in data && data.capacity_range != undefined) {
                    this.capacity_range = data.capacity_range;
                }
                if ("staging_target_path" in data && data.staging_target_path != undefined) {
                    this.staging_target_path = data.staging_target_path;
                }
                if ("volume_capability" in data && data.volume_capability != undefined) {
                    this.volume_capability = data.volume_capability;
                }
                if ("secrets" in data && data.secrets != undefined) {
                    this.secrets = data.secrets;
                }
            }
            if (!this.secrets)
                this.secrets = new Map();
        }
        get volume_id() {
            return pb_1.Message.getFieldWithDefault(this, 1, "") as string;
        }
        set volume_id(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get volume_path() {
            return pb_1.Message.getFieldWithDefault(this, 2, "") as string;
        }
        set volume_path(value: string) {
            pb_1.Message.setField(this, 2, value);
        }
        get capacity_range(): CapacityRange | undefined {
            return pb_1.Message.getWrapperField(this, CapacityRange, 3) as CapacityRange | undefined;
        }
        set capacity_range(value: CapacityRange) {
            pb_1.Message.setWrapperField(this, 3, value);
        }
        get has_capacity_range() {
            return pb_1.Message.getField(this, 3) != null;
        }
        get staging_target_path() {
            return pb_1.Message.getFieldWithDefault(this, 4, "") as string;
        }
        set staging_target_path(value: string) {
            pb_1.Message.setField(this, 4, value);
        }
        get volume_capability(): VolumeCapability | undefined {
            return pb_1.Message.getWrapperField(this, VolumeCapability, 5) as VolumeCapability | undefined;
        }
        set volume_capability(value: VolumeCapability) {
            pb_1.Message.setWrapperField(this, 5, value);
        }
        get has_volume_capability() {
            return pb_1.Message.getField(this, 5) != null;
        }
        get secrets() {
            return pb_1.Message.getField(this, 6) as any as Map<string, string>;
        }
        set secrets(value: Map<string, string>) {
            pb_1.Message.setField(this, 6, value as any);
        }
        static fromObject(data: {
            volume_id?: string;
            volume_path?: string;
            capacity_range?: ReturnType<typeof CapacityRange.prototype.toObject>;
            staging_target_path?: string;
            volume_capability?: ReturnType<typeof VolumeCapability.prototype.toObject>;
            secrets?: {
                [key: string]: string;
            };
        }): NodeExpandVolumeRequest {
            const message = new NodeExpandVolumeRequest({});
            if (data.volume_id != null) {
                message.volume_id = data.volume_id;
            }
            if (data.volume_path != null) {
                message.volume_path = data.volume_path;
            }
            if (data.capacity_range != null) {
                message.capacity_range = CapacityRange.fromObject(data.capacity_range);
            }
            if (data.staging_target_path != null) {
                message.staging_target_path = data.staging_target_path;
            }
            if (data.volume_capability != null) {
                message.volume_capability = VolumeCapability.fromObject(data.volume_capability);
            }
            if (typeof data.secrets == "object") {
                message.secrets = new Map(Object.entries(data.secrets));
            }
            return message;
        }
        toObject() {
            const data: {
                volume_id?: string;
                volume_path?: string;
                capacity_range?: ReturnType<typeof CapacityRange.prototype.toObject>;
                staging_target_path?: string;
                volume_capability?: ReturnType<typeof VolumeCapability.prototype.toObject>;
                secrets?: {
                    [key: string]: string;
                };
            } = {};
            if (this.volume_id != null) {
                data.volume_id = this.volume_id;
            }
            if (this.volume_path != null) {
                data.volume_path = this.volume_path;
            }
            if (this.capacity_range != null) {
                data.capacity_range = this.capacity_range.toObject();
            }
            if (this.staging_target_path != null) {
                data.staging_target_path = this.staging_target_path;
            }
            if (this.volume_capability != null) {
                data.volume_capability = this.volume_capability.toObject();
            }
            if (this.secrets != null) {
                data.secrets = (Object.fromEntries)(this.secrets);
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.volume_id.length)
                writer.writeString(1, this.volume_id);
            if (this.volume_path.length)
                writer.writeString(2, this.volume_path);
            if (this.has_capacity_range)
                writer.writeMessage(3, this.capacity_range, () => this.capacity_range?.serialize(writer));
            if (this.staging_target_path.length)
                writer.writeString(4, this.staging_target_path);
            if (this.has_volume_capability)
                writer.writeMessage(5, this.volume_capability, () => this.volume_capability?.serialize(writer));
            for (const [key, value] of this.secrets) {
                writer.writeMessage(6, this.secrets, () => {
                    writer.writeString(1, key);
                    writer.writeString(2, value);
                });
            }
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): NodeExpandVolumeRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new NodeExpandVolumeRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.volume_id = reader.readString();
                        break;
                    case 2:
                        message.volume_path = reader.readString();
                        break;
                    case 3:
                        reader.readMessage(message.capacity_range, () => message.capacity_range = CapacityRange.deserialize(reader));
                        break;
                    case 4:
                        message.staging_target_path = reader.readString();
                        break;
                    case 5:
                        reader.readMessage(message.volume_capability, () => message.volume_capability = VolumeCapability.deserialize(reader));
                        break;
                    case 6:
                        reader.readMessage(message, () => pb_1.Map.deserializeBinary(message.secrets as any, reader, reader.readString, reader.readString, undefined, "", ""));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): NodeExpandVolumeRequest {
            return NodeExpandVolumeRequest.deserialize(bytes);
        }
    }
    export class NodeExpandVolumeResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            capacity_bytes?: string;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("capacity_bytes" in data && data.capacity_bytes != undefined) {
                    this.capacity_bytes = data.capacity_bytes;
                }
            }
        }
        get capacity_bytes() {
            return pb_1.Message.getFieldWithDefault(this, 1, "0") as string;
        }
        set capacity_bytes(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        static fromObject(data: {
            capacity_bytes?: string;
        }): NodeExpandVolumeResponse {
            const message = new NodeExpandVolumeResponse({});
            if (data.capacity_bytes != null) {
                message.capacity_bytes = data.capacity_bytes;
            }
            return message;
        }
        toObject() {
            const data: {
                capacity_bytes?: string;
            } = {};
            if (this.capacity_bytes != null) {
                data.capacity_bytes = this.capacity_bytes;
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.capacity_bytes != "0")
                writer.writeInt64String(1, this.capacity_bytes);
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): NodeExpandVolumeResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new NodeExpandVolumeResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.capacity_bytes = reader.readInt64String();
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): NodeExpandVolumeResponse {
            return NodeExpandVolumeResponse.deserialize(bytes);
        }
    }
    export class NodeGetCapabilitiesRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {}) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") { }
        }
        static fromObject(data: {}): NodeGetCapabilitiesRequest {
            const message = new NodeGetCapabilitiesRequest({});
            return message;
        }
        toObject() {
            const data: {} = {};
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): NodeGetCapabilitiesRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new NodeGetCapabilitiesRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): NodeGetCapabilitiesRequest {
            return NodeGetCapabilitiesRequest.deserialize(bytes);
        }
    }
    export class NodeGetCapabilitiesResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            capabilities?: NodeServiceCapability[];
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [1], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("capabilities" in data && data.capabilities != undefined) {
                    this.capabilities = data.capabilities;
                }
            }
        }
        get capabilities() {
            return pb_1.Message.getRepeatedWrapperField(this, NodeServiceCapability, 1) as NodeServiceCapability[];
        }
        set capabilities(value: NodeServiceCapability[]) {
            pb_1.Message.setRepeatedWrapperField(this, 1, value);
        }
        static fromObject(data: {
            capabilities?: ReturnType<typeof NodeServiceCapability.prototype.toObject>[];
        }): NodeGetCapabilitiesResponse {
            const message = new NodeGetCapabilitiesResponse({});
            if (data.capabilities != null) {
                message.capabilities = data.capabilities.map(item => NodeServiceCapability.fromObject(item));
            }
            return message;
        }
        toObject() {
            const data: {
                capabilities?: ReturnType<typeof NodeServiceCapability.prototype.toObject>[];
            } = {};
            if (this.capabilities != null) {
                data.capabilities = this.capabilities.map((item: NodeServiceCapability) => item.toObject());
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.capabilities.length)
                writer.writeRepeatedMessage(1, this.capabilities, (item: NodeServiceCapability) => item.serialize(writer));
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): NodeGetCapabilitiesResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new NodeGetCapabilitiesResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        reader.readMessage(message.capabilities, () => pb_1.Message.addToRepeatedWrapperField(message, 1, NodeServiceCapability.deserialize(reader), NodeServiceCapability));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): NodeGetCapabilitiesResponse {
            return NodeGetCapabilitiesResponse.deserialize(bytes);
        }
    }
    export class NodeServiceCapability extends pb_1.Message {
        #one_of_decls: number[][] = [[1]];
        constructor(data?: any[] | ({} & (({
            rpc?: NodeServiceCapability.RPC;
        })))) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("rpc" in data && data.rpc != undefined) {
                    this.rpc = data.rpc;
                }
            }
        }
        get rpc(): NodeServiceCapability.RPC | undefined {
            return pb_1.Message.getWrapperField(this, NodeServiceCapability.RPC, 1) as NodeServiceCapability.RPC | undefined;
        }
        set rpc(value: NodeServiceCapability.RPC) {
            pb_1.Message.setOneofWrapperField(this, 1, this.#one_of_decls[0], value);
        }
        get has_rpc() {
            return pb_1.Message.getField(this, 1) != null;
        }
        get type() {
            const cases: {
                [index: number]: "none" | "rpc";
            } = {
                0: "none",
                1: "rpc"
            };
            return cases[pb_1.Message.computeOneofCase(this, [1])];
        }
        static fromObject(data: {
            rpc?: ReturnType<typeof NodeServiceCapability.RPC.prototype.toObject>;
        }): NodeServiceCapability {
            const message = new NodeServiceCapability({});
            if (data.rpc != null) {
                message.rpc = NodeServiceCapability.RPC.fromObject(data.rpc);
            }
            return message;
        }
        toObject() {
            const data: {
                rpc?: ReturnType<typeof NodeServiceCapability.RPC.prototype.toObject>;
            } = {};
            if (this.rpc != null) {
                data.rpc = this.rpc.toObject();
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.has_rpc)
                writer.writeMessage(1, this.rpc, () => this.rpc?.serialize(writer));
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): NodeServiceCapability {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new NodeServiceCapability();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        reader.readMessage(message.rpc, () => message.rpc = NodeServiceCapability.RPC.deserialize(reader));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): NodeServiceCapability {
            return NodeServiceCapability.deserialize(bytes);
        }
    }
    export namespace NodeServiceCapability {
        export class RPC extends pb_1.Message {
            #one_of_decls: number[][] = [];
            constructor(data?: any[] | {
                type?: NodeServiceCapability.RPC.Type;
            }) {
                super();
                pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
                if (!Array.isArray(data) && typeof data == "object") {
                    if ("type" in data && data.type != undefined) {
                        this.type = data.type;
                    }
                }
            }
            get type() {
                return pb_1.Message.getFieldWithDefault(this, 1, NodeServiceCapability.RPC.Type.UNKNOWN) as NodeServiceCapability.RPC.Type;
            }
            set type(value: NodeServiceCapability.RPC.Type) {
                pb_1.Message.setField(this, 1, value);
            }
            static fromObject(data: {
                type?: NodeServiceCapability.RPC.Type;
            }): RPC {
                const message = new RPC({});
                if (data.type != null) {
                    message.type = data.type;
                }
                return message;
            }
            toObject() {
                const data: {
                    type?: NodeServiceCapability.RPC.Type;
                } = {};
                if (this.type != null) {
                    data.type = this.type;
                }
                return data;
            }
            serialize(): Uint8Array;
            serialize(w: pb_1.BinaryWriter): void;
            serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
                const writer = w || new pb_1.BinaryWriter();
                if (this.type != NodeServiceCapability.RPC.Type.UNKNOWN)
                    writer.writeEnum(1, this.type);
                if (!w)
                    return writer.getResultBuffer();
            }
            static deserialize(bytes: Uint8Array | pb_1.BinaryReader): RPC {
                const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new RPC();
                while (reader.nextField()) {
                    if (reader.isEndGroup())
                        break;
                    switch (reader.getFieldNumber()) {
                        case 1:
                            message.type = reader.readEnum();
                            break;
                        default: reader.skipField();
                    }
                }
                return message;
            }
            serializeBinary(): Uint8Array {
                return this.serialize();
            }
            static override deserializeBinary(bytes: Uint8Array): RPC {
                return RPC.deserialize(bytes);
            }
        }
        export namespace RPC {
            export enum Type {
                UNKNOWN = 0,
                STAGE_UNSTAGE_VOLUME = 1,
                GET_VOLUME_STATS = 2,
                EXPAND_VOLUME = 3,
                VOLUME_CONDITION = 4,
                SINGLE_NODE_MULTI_WRITER = 5,
                VOLUME_MOUNT_GROUP = 6
            }
        }
    }
    export class NodeGetInfoRequest extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {}) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") { }
        }
        static fromObject(data: {}): NodeGetInfoRequest {
            const message = new NodeGetInfoRequest({});
            return message;
        }
        toObject() {
            const data: {} = {};
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): NodeGetInfoRequest {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new NodeGetInfoRequest();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): NodeGetInfoRequest {
            return NodeGetInfoRequest.deserialize(bytes);
        }
    }
    export class NodeGetInfoResponse extends pb_1.Message {
        #one_of_decls: number[][] = [];
        constructor(data?: any[] | {
            node_id?: string;
            max_volumes_per_node?: string;
            accessible_topology?: Topology;
        }) {
            super();
            pb_1.Message.initialize(this, Array.isArray(data) ? data : [], 0, -1, [], this.#one_of_decls);
            if (!Array.isArray(data) && typeof data == "object") {
                if ("node_id" in data && data.node_id != undefined) {
                    this.node_id = data.node_id;
                }
                if ("max_volumes_per_node" in data && data.max_volumes_per_node != undefined) {
                    this.max_volumes_per_node = data.max_volumes_per_node;
                }
                if ("accessible_topology" in data && data.accessible_topology != undefined) {
                    this.accessible_topology = data.accessible_topology;
                }
            }
        }
        get node_id() {
            return pb_1.Message.getFieldWithDefault(this, 1, "") as string;
        }
        set node_id(value: string) {
            pb_1.Message.setField(this, 1, value);
        }
        get max_volumes_per_node() {
            return pb_1.Message.getFieldWithDefault(this, 2, "0") as string;
        }
        set max_volumes_per_node(value: string) {
            pb_1.Message.setField(this, 2, value);
        }
        get accessible_topology(): Topology | undefined {
            return pb_1.Message.getWrapperField(this, Topology, 3) as Topology | undefined;
        }
        set accessible_topology(value: Topology) {
            pb_1.Message.setWrapperField(this, 3, value);
        }
        get has_accessible_topology() {
            return pb_1.Message.getField(this, 3) != null;
        }
        static fromObject(data: {
            node_id?: string;
            max_volumes_per_node?: string;
            accessible_topology?: ReturnType<typeof Topology.prototype.toObject>;
        }): NodeGetInfoResponse {
            const message = new NodeGetInfoResponse({});
            if (data.node_id != null) {
                message.node_id = data.node_id;
            }
            if (data.max_volumes_per_node != null) {
                message.max_volumes_per_node = data.max_volumes_per_node;
            }
            if (data.accessible_topology != null) {
                message.accessible_topology = Topology.fromObject(data.accessible_topology);
            }
            return message;
        }
        toObject() {
            const data: {
                node_id?: string;
                max_volumes_per_node?: string;
                accessible_topology?: ReturnType<typeof Topology.prototype.toObject>;
            } = {};
            if (this.node_id != null) {
                data.node_id = this.node_id;
            }
            if (this.max_volumes_per_node != null) {
                data.max_volumes_per_node = this.max_volumes_per_node;
            }
            if (this.accessible_topology != null) {
                data.accessible_topology = this.accessible_topology.toObject();
            }
            return data;
        }
        serialize(): Uint8Array;
        serialize(w: pb_1.BinaryWriter): void;
        serialize(w?: pb_1.BinaryWriter): Uint8Array | void {
            const writer = w || new pb_1.BinaryWriter();
            if (this.node_id.length)
                writer.writeString(1, this.node_id);
            if (this.max_volumes_per_node != "0")
                writer.writeInt64String(2, this.max_volumes_per_node);
            if (this.has_accessible_topology)
                writer.writeMessage(3, this.accessible_topology, () => this.accessible_topology?.serialize(writer));
            if (!w)
                return writer.getResultBuffer();
        }
        static deserialize(bytes: Uint8Array | pb_1.BinaryReader): NodeGetInfoResponse {
            const reader = bytes instanceof pb_1.BinaryReader ? bytes : new pb_1.BinaryReader(bytes), message = new NodeGetInfoResponse();
            while (reader.nextField()) {
                if (reader.isEndGroup())
                    break;
                switch (reader.getFieldNumber()) {
                    case 1:
                        message.node_id = reader.readString();
                        break;
                    case 2:
                        message.max_volumes_per_node = reader.readInt64String();
                        break;
                    case 3:
                        reader.readMessage(message.accessible_topology, () => message.accessible_topology = Topology.deserialize(reader));
                        break;
                    default: reader.skipField();
                }
            }
            return message;
        }
        serializeBinary(): Uint8Array {
            return this.serialize();
        }
        static override deserializeBinary(bytes: Uint8Array): NodeGetInfoResponse {
            return NodeGetInfoResponse.deserialize(bytes);
        }
    }
    interface GrpcUnaryServiceInterface<P, R> {
        (message: P, metadata: grpc_1.Metadata, options: grpc_1.CallOptions, callback: grpc_1.requestCallback<R>): grpc_1.ClientUnaryCall;
        (message: P, metadata: grpc_1.Metadata, callback: grpc_1.requestCallback<R>): grpc_1.ClientUnaryCall;
        (message: P, options: grpc_1.CallOptions, callback: grpc_1.requestCallback<R>): grpc_1.ClientUnaryCall;
        (message: P, callback: grpc_1.requestCallback<R>): grpc_1.ClientUnaryCall;
    }
    interface GrpcStreamServiceInterface<P, R> {
        (message: P, metadata: grpc_1.Metadata, options?: grpc_1.CallOptions): grpc_1.ClientReadableStream<R>;
        (message: P, options?: grpc_1.CallOptions): grpc_1.ClientReadableStream<R>;
    }
    interface GrpWritableServiceInterface<P, R> {
        (metadata: grpc_1.Metadata, options: grpc_1.CallOptions, callback: grpc_1.requestCallback<R>): grpc_1.ClientWritableStream<P>;
        (metadata: grpc_1.Metadata, callback: grpc_1.requestCallback<R>): grpc_1.ClientWritableStream<P>;
        (options: grpc_1.CallOptions, callback: grpc_1.requestCallback<R>): grpc_1.ClientWritableStream<P>;
        (callback: grpc_1.requestCallback<R>): grpc_1.ClientWritableStream<P>;
    }
    interface GrpcChunkServiceInterface<P, R> {
        (metadata: grpc_1.Metadata, options?: grpc_1.CallOptions): grpc_1.ClientDuplexStream<P, R>;
        (options?: grpc_1.CallOptions): grpc_1.ClientDuplexStream<P, R>;
    }
    interface GrpcPromiseServiceInterface<P, R> {
        (message: P, metadata: grpc_1.Metadata, options?: grpc_1.CallOptions): Promise<R>;
        (message: P, options?: grpc_1.CallOptions): Promise<R>;
    }
    export abstract class UnimplementedIdentityService {
        static definition = {
            GetPluginInfo: {
                path: "/csi.v1.Identity/GetPluginInfo",
                requestStream: false,
                responseStream: false,
                requestSerialize: (message: GetPluginInfoRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => GetPluginInfoRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: GetPluginInfoResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => GetPluginInfoResponse.deserialize(new Uint8Array(bytes))
            },
            GetPluginCapabilities: {
                path: "/csi.v1.Identity/GetPluginCapabilities",
                requestStream: false,
                responseStream: false,
                requestSerialize: (message: GetPluginCapabilitiesRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => GetPluginCapabilitiesRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: GetPluginCapabilitiesResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => GetPluginCapabilitiesResponse.deserialize(new Uint8Array(bytes))
            },
            Probe: {
                path: "/csi.v1.Identity/Probe",
                requestStream: false,
                responseStream: false,
                requestSerialize: (message: ProbeRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => ProbeRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: ProbeResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => ProbeResponse.deserialize(new Uint8Array(bytes))
            }
        };
        [method: string]: grpc_1.UntypedHandleCall;
        abstract GetPluginInfo(call: grpc_1.ServerUnaryCall<GetPluginInfoRequest, GetPluginInfoResponse>, callback: grpc_1.sendUnaryData<GetPluginInfoResponse>): void;
        abstract GetPluginCapabilities(call: grpc_1.ServerUnaryCall<GetPluginCapabilitiesRequest, GetPluginCapabilitiesResponse>, callback: grpc_1.sendUnaryData<GetPluginCapabilitiesResponse>): void;
        abstract Probe(call: grpc_1.ServerUnaryCall<ProbeRequest, ProbeResponse>, callback: grpc_1.sendUnaryData<ProbeResponse>): void;
    }
    export class IdentityClient extends grpc_1.makeGenericClientConstructor(UnimplementedIdentityService.definition, "Identity", {}) {
        constructor(address: string, credentials: grpc_1.ChannelCredentials, options?: Partial<grpc_1.ChannelOptions>) {
            super(address, credentials, options);
        }
        GetPluginInfo: GrpcUnaryServiceInterface<GetPluginInfoRequest, GetPluginInfoResponse> = (message: GetPluginInfoRequest, metadata: grpc_1.Metadata | grpc_1.CallOptions | grpc_1.requestCallback<GetPluginInfoResponse>, options?: grpc_1.CallOptions | grpc_1.requestCallback<GetPluginInfoResponse>, callback?: grpc_1.requestCallback<GetPluginInfoResponse>): grpc_1.ClientUnaryCall => {
            return super.GetPluginInfo(message, metadata, options, callback);
        };
        GetPluginCapabilities: GrpcUnaryServiceInterface<GetPluginCapabilitiesRequest, GetPluginCapabilitiesResponse> = (message: GetPluginCapabilitiesRequest, metadata: grpc_1.Metadata | grpc_1.CallOptions | grpc_1.requestCallback<GetPluginCapabilitiesResponse>, options?: grpc_1.CallOptions | grpc_1.requestCallback<GetPluginCapabilitiesResponse>, callback?: grpc_1.requestCallback<GetPluginCapabilitiesResponse>): grpc_1.ClientUnaryCall => {
            return super.GetPluginCapabilities(message, metadata, options, callback);
        };
        Probe: GrpcUnaryServiceInterface<ProbeRequest, ProbeResponse> = (message: ProbeRequest, metadata: grpc_1.Metadata | grpc_1.CallOptions | grpc_1.requestCallback<ProbeResponse>, options?: grpc_1.CallOptions | grpc_1.requestCallback<ProbeResponse>, callback?: grpc_1.requestCallback<ProbeResponse>): grpc_1.ClientUnaryCall => {
            return super.Probe(message, metadata, options, callback);
        };
    }
    export abstract class UnimplementedControllerService {
        static definition = {
            CreateVolume: {
                path: "/csi.v1.Controller/CreateVolume",
                requestStream: false,
                responseStream: false,
                requestSerialize: (message: CreateVolumeRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => CreateVolumeRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: CreateVolumeResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => CreateVolumeResponse.deserialize(new Uint8Array(bytes))
            },
            DeleteVolume: {
                path: "/csi.v1.Controller/DeleteVolume",
                requestStream: false,
                responseStream: false,
                requestSerialize: (message: DeleteVolumeRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => DeleteVolumeRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: DeleteVolumeResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => DeleteVolumeResponse.deserialize(new Uint8Array(bytes))
            },
            ControllerPublishVolume: {
                path: "/csi.v1.Controller/ControllerPublishVolume",
                requestStream: false,
                responseStream: false,
                requestSerialize: (message: ControllerPublishVolumeRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => ControllerPublishVolumeRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: ControllerPublishVolumeResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => ControllerPublishVolumeResponse.deserialize(new Uint8Array(bytes))
            },
            ControllerUnpublishVolume: {
                path: "/csi.v1.Controller/ControllerUnpublishVolume",
                requestStream: false,
                responseStream: false,
                requestSerialize: (message: ControllerUnpublishVolumeRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => ControllerUnpublishVolumeRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: ControllerUnpublishVolumeResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => ControllerUnpublishVolumeResponse.deserialize(new Uint8Array(bytes))
            },
            ValidateVolumeCapabilities: {
                path: "/csi.v1.Controller/ValidateVolumeCapabilities",
                requestStream: false,
                responseStream: false,
                requestSerialize: (message: ValidateVolumeCapabilitiesRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => ValidateVolumeCapabilitiesRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: ValidateVolumeCapabilitiesResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => ValidateVolumeCapabilitiesResponse.deserialize(new Uint8Array(bytes))
            },
            ListVolumes: {
                path: "/csi.v1.Controller/ListVolumes",
                requestStream: false,
                responseStream: false,
                requestSerialize: (message: ListVolumesRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => ListVolumesRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: ListVolumesResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => ListVolumesResponse.deserialize(new Uint8Array(bytes))
            },
            GetCapacity: {
                path: "/csi.v1.Controller/GetCapacity",
                requestStream: false,
                responseStream: false,
                requestSerialize: (message: GetCapacityRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => GetCapacityRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: GetCapacityResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => GetCapacityResponse.deserialize(new Uint8Array(bytes))
            },
            ControllerGetCapabilities: {
                path: "/csi.v1.Controller/ControllerGetCapabilities",
                requestStream: false,
                responseStream: false,
                requestSerialize: (message: ControllerGetCapabilitiesRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => ControllerGetCapabilitiesRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: ControllerGetCapabilitiesResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => ControllerGetCapabilitiesResponse.deserialize(new Uint8Array(bytes))
            },
            CreateSnapshot: {
                path: "/csi.v1.Controller/CreateSnapshot",
                requestStream: false,
                responseStream: false,
                requestSerialize: (message: CreateSnapshotRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => CreateSnapshotRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: CreateSnapshotResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => CreateSnapshotResponse.deserialize(new Uint8Array(bytes))
            },
            DeleteSnapshot: {
                path: "/csi.v1.Controller/DeleteSnapshot",
                requestStream: false,
                responseStream: false,
                requestSerialize: (message: DeleteSnapshotRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => DeleteSnapshotRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: DeleteSnapshotResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => DeleteSnapshotResponse.deserialize(new Uint8Array(bytes))
            },
            ListSnapshots: {
                path: "/csi.v1.Controller/ListSnapshots",
                requestStream: false,
                responseStream: false,
                requestSerialize: (message: ListSnapshotsRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => ListSnapshotsRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: ListSnapshotsResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => ListSnapshotsResponse.deserialize(new Uint8Array(bytes))
            },
            GetSnapshot: {
                path: "/csi.v1.Controller/GetSnapshot",
                requestStream: false,
                responseStream: false,
                requestSerialize: (message: GetSnapshotRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => GetSnapshotRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: GetSnapshotResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => GetSnapshotResponse.deserialize(new Uint8Array(bytes))
            },
            ControllerExpandVolume: {
                path: "/csi.v1.Controller/ControllerExpandVolume",
                requestStream: false,
                responseStream: false,
                requestSerialize: (message: ControllerExpandVolumeRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => ControllerExpandVolumeRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: ControllerExpandVolumeResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => ControllerExpandVolumeResponse.deserialize(new Uint8Array(bytes))
            },
            ControllerGetVolume: {
                path: "/csi.v1.Controller/ControllerGetVolume",
                requestStream: false,
                responseStream: false,
                requestSerialize: (message: ControllerGetVolumeRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => ControllerGetVolumeRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: ControllerGetVolumeResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => ControllerGetVolumeResponse.deserialize(new Uint8Array(bytes))
            },
            ControllerModifyVolume: {
                path: "/csi.v1.Controller/ControllerModifyVolume",
                requestStream: false,
                responseStream: false,
                requestSerialize: (message: ControllerModifyVolumeRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => ControllerModifyVolumeRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: ControllerModifyVolumeResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => ControllerModifyVolumeResponse.deserialize(new Uint8Array(bytes))
            }
        };
        [method: string]: grpc_1.UntypedHandleCall;
        abstract CreateVolume(call: grpc_1.ServerUnaryCall<CreateVolumeRequest, CreateVolumeResponse>, callback: grpc_1.sendUnaryData<CreateVolumeResponse>): void;
        abstract DeleteVolume(call: grpc_1.ServerUnaryCall<DeleteVolumeRequest, DeleteVolumeResponse>, callback: grpc_1.sendUnaryData<DeleteVolumeResponse>): void;
        abstract ControllerPublishVolume(call: grpc_1.ServerUnaryCall<ControllerPublishVolumeRequest, ControllerPublishVolumeResponse>, callback: grpc_1.sendUnaryData<ControllerPublishVolumeResponse>): void;
        abstract ControllerUnpublishVolume(call: grpc_1.ServerUnaryCall<ControllerUnpublishVolumeRequest, ControllerUnpublishVolumeResponse>, callback: grpc_1.sendUnaryData<ControllerUnpublishVolumeResponse>): void;
        abstract ValidateVolumeCapabilities(call: grpc_1.ServerUnaryCall<ValidateVolumeCapabilitiesRequest, ValidateVolumeCapabilitiesResponse>, callback: grpc_1.sendUnaryData<ValidateVolumeCapabilitiesResponse>): void;
        abstract ListVolumes(call: grpc_1.ServerUnaryCall<ListVolumesRequest, ListVolumesResponse>, callback: grpc_1.sendUnaryData<ListVolumesResponse>): void;
        abstract GetCapacity(call: grpc_1.ServerUnaryCall<GetCapacityRequest, GetCapacityResponse>, callback: grpc_1.sendUnaryData<GetCapacityResponse>): void;
        abstract ControllerGetCapabilities(call: grpc_1.ServerUnaryCall<ControllerGetCapabilitiesRequest, ControllerGetCapabilitiesResponse>, callback: grpc_1.sendUnaryData<ControllerGetCapabilitiesResponse>): void;
        abstract CreateSnapshot(call: grpc_1.ServerUnaryCall<CreateSnapshotRequest, CreateSnapshotResponse>, callback: grpc_1.sendUnaryData<CreateSnapshotResponse>): void;
        abstract DeleteSnapshot(call: grpc_1.ServerUnaryCall<DeleteSnapshotRequest, DeleteSnapshotResponse>, callback: grpc_1.sendUnaryData<DeleteSnapshotResponse>): void;
        abstract ListSnapshots(call: grpc_1.ServerUnaryCall<ListSnapshotsRequest, ListSnapshotsResponse>, callback: grpc_1.sendUnaryData<ListSnapshotsResponse>): void;
        abstract GetSnapshot(call: grpc_1.ServerUnaryCall<GetSnapshotRequest, GetSnapshotResponse>, callback: grpc_1.sendUnaryData<GetSnapshotResponse>): void;
        abstract ControllerExpandVolume(call: grpc_1.ServerUnaryCall<ControllerExpandVolumeRequest, ControllerExpandVolumeResponse>, callback: grpc_1.sendUnaryData<ControllerExpandVolumeResponse>): void;
        abstract ControllerGetVolume(call: grpc_1.ServerUnaryCall<ControllerGetVolumeRequest, ControllerGetVolumeResponse>, callback: grpc_1.sendUnaryData<ControllerGetVolumeResponse>): void;
        abstract ControllerModifyVolume(call: grpc_1.ServerUnaryCall<ControllerModifyVolumeRequest, ControllerModifyVolumeResponse>, callback: grpc_1.sendUnaryData<ControllerModifyVolumeResponse>): void;
    }
    export class ControllerClient extends grpc_1.makeGenericClientConstructor(UnimplementedControllerService.definition, "Controller", {}) {
        constructor(address: string, credentials: grpc_1.ChannelCredentials, options?: Partial<grpc_1.ChannelOptions>) {
            super(address, credentials, options);
        }
        CreateVolume: GrpcUnaryServiceInterface<CreateVolumeRequest, CreateVolumeResponse> = (message: CreateVolumeRequest, metadata: grpc_1.Metadata | grpc_1.CallOptions | grpc_1.requestCallback<CreateVolumeResponse>, options?: grpc_1.CallOptions | grpc_1.requestCallback<CreateVolumeResponse>, callback?: grpc_1.requestCallback<CreateVolumeResponse>): grpc_1.ClientUnaryCall => {
            return super.CreateVolume(message, metadata, options, callback);
        };
        DeleteVolume: GrpcUnaryServiceInterface<DeleteVolumeRequest, DeleteVolumeResponse> = (message: DeleteVolumeRequest, metadata: grpc_1.Metadata | grpc_1.CallOptions | grpc_1.requestCallback<DeleteVolumeResponse>, options?: grpc_1.CallOptions | grpc_1.requestCallback<DeleteVolumeResponse>, callback?: grpc_1.requestCallback<DeleteVolumeResponse>): grpc_1.ClientUnaryCall => {
            return super.DeleteVolume(message, metadata, options, callback);
        };
        ControllerPublishVolume: GrpcUnaryServiceInterface<ControllerPublishVolumeRequest, ControllerPublishVolumeResponse> = (message: ControllerPublishVolumeRequest, metadata: grpc_1.Metadata | grpc_1.CallOptions | grpc_1.requestCallback<ControllerPublishVolumeResponse>, options?: grpc_1.CallOptions | grpc_1.requestCallback<ControllerPublishVolumeResponse>, callback?: grpc_1.requestCallback<ControllerPublishVolumeResponse>): grpc_1.ClientUnaryCall => {
            return super.ControllerPublishVolume(message, metadata, options, callback);
        };
        ControllerUnpublishVolume: GrpcUnaryServiceInterface<ControllerUnpublishVolumeRequest, ControllerUnpublishVolumeResponse> = (message: ControllerUnpublishVolumeRequest, metadata: grpc_1.Metadata | grpc_1.CallOptions | grpc_1.requestCallback<ControllerUnpublishVolumeResponse>, options?: grpc_1.CallOptions | grpc_1.requestCallback<ControllerUnpublishVolumeResponse>, callback?: grpc_1.requestCallback<ControllerUnpublishVolumeResponse>): grpc_1.ClientUnaryCall => {
            return super.ControllerUnpublishVolume(message, metadata, options, callback);
        };
        ValidateVolumeCapabilities: GrpcUnaryServiceInterface<ValidateVolumeCapabilitiesRequest, ValidateVolumeCapabilitiesResponse> = (message: ValidateVolumeCapabilitiesRequest, metadata: grpc_1.Metadata | grpc_1.CallOptions | grpc_1.requestCallback<ValidateVolumeCapabilitiesResponse>, options?: grpc_1.CallOptions | grpc_1.requestCallback<ValidateVolumeCapabilitiesResponse>, callback?: grpc_1.requestCallback<ValidateVolumeCapabilitiesResponse>): grpc_1.ClientUnaryCall => {
            return super.ValidateVolumeCapabilities(message, metadata, options, callback);
        };
        ListVolumes: GrpcUnaryServiceInterface<ListVolumesRequest, ListVolumesResponse> = (message: ListVolumesRequest, metadata: grpc_1.Metadata | grpc_1.CallOptions | grpc_1.requestCallback<ListVolumesResponse>, options?: grpc_1.CallOptions | grpc_1.requestCallback<ListVolumesResponse>, callback?: grpc_1.requestCallback<ListVolumesResponse>): grpc_1.ClientUnaryCall => {
            return super.ListVolumes(message, metadata, options, callback);
        };
        GetCapacity: GrpcUnaryServiceInterface<GetCapacityRequest, GetCapacityResponse> = (message: GetCapacityRequest, metadata: grpc_1.Metadata | grpc_1.CallOptions | grpc_1.requestCallback<GetCapacityResponse>, options?: grpc_1.CallOptions | grpc_1.requestCallback<GetCapacityResponse>, callback?: grpc_1.requestCallback<GetCapacityResponse>): grpc_1.ClientUnaryCall => {
            return super.GetCapacity(message, metadata, options, callback);
        };
        ControllerGetCapabilities: GrpcUnaryServiceInterface<ControllerGetCapabilitiesRequest, ControllerGetCapabilitiesResponse> = (message: ControllerGetCapabilitiesRequest, metadata: grpc_1.Metadata | grpc_1.CallOptions | grpc_1.requestCallback<ControllerGetCapabilitiesResponse>, options?: grpc_1.CallOptions | grpc_1.requestCallback<ControllerGetCapabilitiesResponse>, callback?: grpc_1.requestCallback<ControllerGetCapabilitiesResponse>): grpc_1.ClientUnaryCall => {
            return super.ControllerGetCapabilities(message, metadata, options, callback);
        };
        CreateSnapshot: GrpcUnaryServiceInterface<CreateSnapshotRequest, CreateSnapshotResponse> = (message: CreateSnapshotRequest, metadata: grpc_1.Metadata | grpc_1.CallOptions | grpc_1.requestCallback<CreateSnapshotResponse>, options?: grpc_1.CallOptions | grpc_1.requestCallback<CreateSnapshotResponse>, callback?: grpc_1.requestCallback<CreateSnapshotResponse>): grpc_1.ClientUnaryCall => {
            return super.CreateSnapshot(message, metadata, options, callback);
        };
        DeleteSnapshot: GrpcUnaryServiceInterface<DeleteSnapshotRequest, DeleteSnapshotResponse> = (message: DeleteSnapshotRequest, metadata: grpc_1.Metadata | grpc_1.CallOptions | grpc_1.requestCallback<DeleteSnapshotResponse>, options?: grpc_1.CallOptions | grpc_1.requestCallback<DeleteSnapshotResponse>, callback?: grpc_1.requestCallback<DeleteSnapshotResponse>): grpc_1.ClientUnaryCall => {
            return super.DeleteSnapshot(message, metadata, options, callback);
        };
        ListSnapshots: GrpcUnaryServiceInterface<ListSnapshotsRequest, ListSnapshotsResponse> = (message: ListSnapshotsRequest, metadata: grpc_1.Metadata | grpc_1.CallOptions | grpc_1.requestCallback<ListSnapshotsResponse>, options?: grpc_1.CallOptions | grpc_1.requestCallback<ListSnapshotsResponse>, callback?: grpc_1.requestCallback<ListSnapshotsResponse>): grpc_1.ClientUnaryCall => {
            return super.ListSnapshots(message, metadata, options, callback);
        };
        GetSnapshot: GrpcUnaryServiceInterface<GetSnapshotRequest, GetSnapshotResponse> = (message: GetSnapshotRequest, metadata: grpc_1.Metadata | grpc_1.CallOptions | grpc_1.requestCallback<GetSnapshotResponse>, options?: grpc_1.CallOptions | grpc_1.requestCallback<GetSnapshotResponse>, callback?: grpc_1.requestCallback<GetSnapshotResponse>): grpc_1.ClientUnaryCall => {
            return super.GetSnapshot(message, metadata, options, callback);
        };
        ControllerExpandVolume: GrpcUnaryServiceInterface<ControllerExpandVolumeRequest, ControllerExpandVolumeResponse> = (message: ControllerExpandVolumeRequest, metadata: grpc_1.Metadata | grpc_1.CallOptions | grpc_1.requestCallback<ControllerExpandVolumeResponse>, options?: grpc_1.CallOptions | grpc_1.requestCallback<ControllerExpandVolumeResponse>, callback?: grpc_1.requestCallback<ControllerExpandVolumeResponse>): grpc_1.ClientUnaryCall => {
            return super.ControllerExpandVolume(message, metadata, options, callback);
        };
        ControllerGetVolume: GrpcUnaryServiceInterface<ControllerGetVolumeRequest, ControllerGetVolumeResponse> = (message: ControllerGetVolumeRequest, metadata: grpc_1.Metadata | grpc_1.CallOptions | grpc_1.requestCallback<ControllerGetVolumeResponse>, options?: grpc_1.CallOptions | grpc_1.requestCallback<ControllerGetVolumeResponse>, callback?: grpc_1.requestCallback<ControllerGetVolumeResponse>): grpc_1.ClientUnaryCall => {
            return super.ControllerGetVolume(message, metadata, options, callback);
        };
        ControllerModifyVolume: GrpcUnaryServiceInterface<ControllerModifyVolumeRequest, ControllerModifyVolumeResponse> = (message: ControllerModifyVolumeRequest, metadata: grpc_1.Metadata | grpc_1.CallOptions | grpc_1.requestCallback<ControllerModifyVolumeResponse>, options?: grpc_1.CallOptions | grpc_1.requestCallback<ControllerModifyVolumeResponse>, callback?: grpc_1.requestCallback<ControllerModifyVolumeResponse>): grpc_1.ClientUnaryCall => {
            return super.ControllerModifyVolume(message, metadata, options, callback);
        };
    }
    export abstract class UnimplementedGroupControllerService {
        static definition = {
            GroupControllerGetCapabilities: {
                path: "/csi.v1.GroupController/GroupControllerGetCapabilities",
                requestStream: false,
                responseStream: false,
                requestSerialize: (message: GroupControllerGetCapabilitiesRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => GroupControllerGetCapabilitiesRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: GroupControllerGetCapabilitiesResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => GroupControllerGetCapabilitiesResponse.deserialize(new Uint8Array(bytes))
            },
            CreateVolumeGroupSnapshot: {
                path: "/csi.v1.GroupController/CreateVolumeGroupSnapshot",
                requestStream: false,
                responseStream: false,
                requestSerialize: (message: CreateVolumeGroupSnapshotRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => CreateVolumeGroupSnapshotRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: CreateVolumeGroupSnapshotResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => CreateVolumeGroupSnapshotResponse.deserialize(new Uint8Array(bytes))
            },
            DeleteVolumeGroupSnapshot: {
                path: "/csi.v1.GroupController/DeleteVolumeGroupSnapshot",
                requestStream: false,
                responseStream: false,
                requestSerialize: (message: DeleteVolumeGroupSnapshotRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => DeleteVolumeGroupSnapshotRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: DeleteVolumeGroupSnapshotResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => DeleteVolumeGroupSnapshotResponse.deserialize(new Uint8Array(bytes))
            },
            GetVolumeGroupSnapshot: {
                path: "/csi.v1.GroupController/GetVolumeGroupSnapshot",
                requestStream: false,
                responseStream: false,
                requestSerialize: (message: GetVolumeGroupSnapshotRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => GetVolumeGroupSnapshotRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: GetVolumeGroupSnapshotResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => GetVolumeGroupSnapshotResponse.deserialize(new Uint8Array(bytes))
            }
        };
        [method: string]: grpc_1.UntypedHandleCall;
        abstract GroupControllerGetCapabilities(call: grpc_1.ServerUnaryCall<GroupControllerGetCapabilitiesRequest, GroupControllerGetCapabilitiesResponse>, callback: grpc_1.sendUnaryData<GroupControllerGetCapabilitiesResponse>): void;
        abstract CreateVolumeGroupSnapshot(call: grpc_1.ServerUnaryCall<CreateVolumeGroupSnapshotRequest, CreateVolumeGroupSnapshotResponse>, callback: grpc_1.sendUnaryData<CreateVolumeGroupSnapshotResponse>): void;
        abstract DeleteVolumeGroupSnapshot(call: grpc_1.ServerUnaryCall<DeleteVolumeGroupSnapshotRequest, DeleteVolumeGroupSnapshotResponse>, callback: grpc_1.sendUnaryData<DeleteVolumeGroupSnapshotResponse>): void;
        abstract GetVolumeGroupSnapshot(call: grpc_1.ServerUnaryCall<GetVolumeGroupSnapshotRequest, GetVolumeGroupSnapshotResponse>, callback: grpc_1.sendUnaryData<GetVolumeGroupSnapshotResponse>): void;
    }
    export class GroupControllerClient extends grpc_1.makeGenericClientConstructor(UnimplementedGroupControllerService.definition, "GroupController", {}) {
        constructor(address: string, credentials: grpc_1.ChannelCredentials, options?: Partial<grpc_1.ChannelOptions>) {
            super(address, credentials, options);
        }
        GroupControllerGetCapabilities: GrpcUnaryServiceInterface<GroupControllerGetCapabilitiesRequest, GroupControllerGetCapabilitiesResponse> = (message: GroupControllerGetCapabilitiesRequest, metadata: grpc_1.Metadata | grpc_1.CallOptions | grpc_1.requestCallback<GroupControllerGetCapabilitiesResponse>, options?: grpc_1.CallOptions | grpc_1.requestCallback<GroupControllerGetCapabilitiesResponse>, callback?: grpc_1.requestCallback<GroupControllerGetCapabilitiesResponse>): grpc_1.ClientUnaryCall => {
            return super.GroupControllerGetCapabilities(message, metadata, options, callback);
        };
        CreateVolumeGroupSnapshot: GrpcUnaryServiceInterface<CreateVolumeGroupSnapshotRequest, CreateVolumeGroupSnapshotResponse> = (message: CreateVolumeGroupSnapshotRequest, metadata: grpc_1.Metadata | grpc_1.CallOptions | grpc_1.requestCallback<CreateVolumeGroupSnapshotResponse>, options?: grpc_1.CallOptions | grpc_1.requestCallback<CreateVolumeGroupSnapshotResponse>, callback?: grpc_1.requestCallback<CreateVolumeGroupSnapshotResponse>): grpc_1.ClientUnaryCall => {
            return super.CreateVolumeGroupSnapshot(message, metadata, options, callback);
        };
        DeleteVolumeGroupSnapshot: GrpcUnaryServiceInterface<DeleteVolumeGroupSnapshotRequest, DeleteVolumeGroupSnapshotResponse> = (message: DeleteVolumeGroupSnapshotRequest, metadata: grpc_1.Metadata | grpc_1.CallOptions | grpc_1.requestCallback<DeleteVolumeGroupSnapshotResponse>, options?: grpc_1.CallOptions | grpc_1.requestCallback<DeleteVolumeGroupSnapshotResponse>, callback?: grpc_1.requestCallback<DeleteVolumeGroupSnapshotResponse>): grpc_1.ClientUnaryCall => {
            return super.DeleteVolumeGroupSnapshot(message, metadata, options, callback);
        };
        GetVolumeGroupSnapshot: GrpcUnaryServiceInterface<GetVolumeGroupSnapshotRequest, GetVolumeGroupSnapshotResponse> = (message: GetVolumeGroupSnapshotRequest, metadata: grpc_1.Metadata | grpc_1.CallOptions | grpc_1.requestCallback<GetVolumeGroupSnapshotResponse>, options?: grpc_1.CallOptions | grpc_1.requestCallback<GetVolumeGroupSnapshotResponse>, callback?: grpc_1.requestCallback<GetVolumeGroupSnapshotResponse>): grpc_1.ClientUnaryCall => {
            return super.GetVolumeGroupSnapshot(message, metadata, options, callback);
        };
    }
    export abstract class UnimplementedSnapshotMetadataService {
        static definition = {
            GetMetadataAllocated: {
                path: "/csi.v1.SnapshotMetadata/GetMetadataAllocated",
                requestStream: false,
                responseStream: true,
                requestSerialize: (message: GetMetadataAllocatedRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => GetMetadataAllocatedRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: GetMetadataAllocatedResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => GetMetadataAllocatedResponse.deserialize(new Uint8Array(bytes))
            },
            GetMetadataDelta: {
                path: "/csi.v1.SnapshotMetadata/GetMetadataDelta",
                requestStream: false,
                responseStream: true,
                requestSerialize: (message: GetMetadataDeltaRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => GetMetadataDeltaRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: GetMetadataDeltaResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => GetMetadataDeltaResponse.deserialize(new Uint8Array(bytes))
            }
        };
        [method: string]: grpc_1.UntypedHandleCall;
        abstract GetMetadataAllocated(call: grpc_1.ServerWritableStream<GetMetadataAllocatedRequest, GetMetadataAllocatedResponse>): void;
        abstract GetMetadataDelta(call: grpc_1.ServerWritableStream<GetMetadataDeltaRequest, GetMetadataDeltaResponse>): void;
    }
    export class SnapshotMetadataClient extends grpc_1.makeGenericClientConstructor(UnimplementedSnapshotMetadataService.definition, "SnapshotMetadata", {}) {
        constructor(address: string, credentials: grpc_1.ChannelCredentials, options?: Partial<grpc_1.ChannelOptions>) {
            super(address, credentials, options);
        }
        GetMetadataAllocated: GrpcStreamServiceInterface<GetMetadataAllocatedRequest, GetMetadataAllocatedResponse> = (message: GetMetadataAllocatedRequest, metadata?: grpc_1.Metadata | grpc_1.CallOptions, options?: grpc_1.CallOptions): grpc_1.ClientReadableStream<GetMetadataAllocatedResponse> => {
            return super.GetMetadataAllocated(message, metadata, options);
        };
        GetMetadataDelta: GrpcStreamServiceInterface<GetMetadataDeltaRequest, GetMetadataDeltaResponse> = (message: GetMetadataDeltaRequest, metadata?: grpc_1.Metadata | grpc_1.CallOptions, options?: grpc_1.CallOptions): grpc_1.ClientReadableStream<GetMetadataDeltaResponse> => {
            return super.GetMetadataDelta(message, metadata, options);
        };
    }
    export abstract class UnimplementedNodeService {
        static definition = {
            NodeStageVolume: {
                path: "/csi.v1.Node/NodeStageVolume",
                requestStream: false,
                responseStream: false,
                requestSerialize: (message: NodeStageVolumeRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => NodeStageVolumeRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: NodeStageVolumeResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => NodeStageVolumeResponse.deserialize(new Uint8Array(bytes))
            },
            NodeUnstageVolume: {
                path: "/csi.v1.Node/NodeUnstageVolume",
                requestStream: false,
                responseStream: false,
                requestSerialize: (message: NodeUnstageVolumeRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => NodeUnstageVolumeRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: NodeUnstageVolumeResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => NodeUnstageVolumeResponse.deserialize(new Uint8Array(bytes))
            },
            NodePublishVolume: {
                path: "/csi.v1.Node/NodePublishVolume",
                requestStream: false,
                responseStream: false,
                requestSerialize: (message: NodePublishVolumeRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => NodePublishVolumeRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: NodePublishVolumeResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => NodePublishVolumeResponse.deserialize(new Uint8Array(bytes))
            },
            NodeUnpublishVolume: {
                path: "/csi.v1.Node/NodeUnpublishVolume",
                requestStream: false,
                responseStream: false,
                requestSerialize: (message: NodeUnpublishVolumeRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => NodeUnpublishVolumeRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: NodeUnpublishVolumeResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => NodeUnpublishVolumeResponse.deserialize(new Uint8Array(bytes))
            },
            NodeGetVolumeStats: {
                path: "/csi.v1.Node/NodeGetVolumeStats",
                requestStream: false,
                responseStream: false,
                requestSerialize: (message: NodeGetVolumeStatsRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => NodeGetVolumeStatsRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: NodeGetVolumeStatsResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => NodeGetVolumeStatsResponse.deserialize(new Uint8Array(bytes))
            },
            NodeExpandVolume: {
                path: "/csi.v1.Node/NodeExpandVolume",
                requestStream: false,
                responseStream: false,
                requestSerialize: (message: NodeExpandVolumeRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => NodeExpandVolumeRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: NodeExpandVolumeResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => NodeExpandVolumeResponse.deserialize(new Uint8Array(bytes))
            },
            NodeGetCapabilities: {
                path: "/csi.v1.Node/NodeGetCapabilities",
                requestStream: false,
                responseStream: false,
                requestSerialize: (message: NodeGetCapabilitiesRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => NodeGetCapabilitiesRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: NodeGetCapabilitiesResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => NodeGetCapabilitiesResponse.deserialize(new Uint8Array(bytes))
            },
            NodeGetInfo: {
                path: "/csi.v1.Node/NodeGetInfo",
                requestStream: false,
                responseStream: false,
                requestSerialize: (message: NodeGetInfoRequest) => Buffer.from(message.serialize()),
                requestDeserialize: (bytes: Buffer) => NodeGetInfoRequest.deserialize(new Uint8Array(bytes)),
                responseSerialize: (message: NodeGetInfoResponse) => Buffer.from(message.serialize()),
                responseDeserialize: (bytes: Buffer) => NodeGetInfoResponse.deserialize(new Uint8Array(bytes))
            }
        };
        [method: string]: grpc_1.UntypedHandleCall;
        abstract NodeStageVolume(call: grpc_1.ServerUnaryCall<NodeStageVolumeRequest, NodeStageVolumeResponse>, callback: grpc_1.sendUnaryData<NodeStageVolumeResponse>): void;
        abstract NodeUnstageVolume(call: grpc_1.ServerUnaryCall<NodeUnstageVolumeRequest, NodeUnstageVolumeResponse>, callback: grpc_1.sendUnaryData<NodeUnstageVolumeResponse>): void;
        abstract NodePublishVolume(call: grpc_1.ServerUnaryCall<NodePublishVolumeRequest, NodePublishVolumeResponse>, callback: grpc_1.sendUnaryData<NodePublishVolumeResponse>): void;
        abstract NodeUnpublishVolume(call: grpc_1.ServerUnaryCall<NodeUnpublishVolumeRequest, NodeUnpublishVolumeResponse>, callback: grpc_1.sendUnaryData<NodeUnpublishVolumeResponse>): void;
        abstract NodeGetVolumeStats(call: grpc_1.ServerUnaryCall<NodeGetVolumeStatsRequest, NodeGetVolumeStatsResponse>, callback: grpc_1.sendUnaryData<NodeGetVolumeStatsResponse>): void;
        abstract NodeExpandVolume(call: grpc_1.ServerUnaryCall<NodeExpandVolumeRequest, NodeExpandVolumeResponse>, callback: grpc_1.sendUnaryData<NodeExpandVolumeResponse>): void;
        abstract NodeGetCapabilities(call: grpc_1.ServerUnaryCall<NodeGetCapabilitiesRequest, NodeGetCapabilitiesResponse>, callback: grpc_1.sendUnaryData<NodeGetCapabilitiesResponse>): void;
        abstract NodeGetInfo(call: grpc_1.ServerUnaryCall<NodeGetInfoRequest, NodeGetInfoResponse>, callback: grpc_1.sendUnaryData<NodeGetInfoResponse>): void;
    }
    export class NodeClient extends grpc_1.makeGenericClientConstructor(UnimplementedNodeService.definition, "Node", {}) {
        constructor(address: string, credentials: grpc_1.ChannelCredentials, options?: Partial<grpc_1.ChannelOptions>) {
            super(address, credentials, options);
        }
        NodeStageVolume: GrpcUnaryServiceInterface<NodeStageVolumeRequest, NodeStageVolumeResponse> = (message: NodeStageVolumeRequest, metadata: grpc_1.Metadata | grpc_1.CallOptions | grpc_1.requestCallback<NodeStageVolumeResponse>, options?: grpc_1.CallOptions | grpc_1.requestCallback<NodeStageVolumeResponse>, callback?: grpc_1.requestCallback<NodeStageVolumeResponse>): grpc_1.ClientUnaryCall => {
            return super.NodeStageVolume(message, metadata, options, callback);
        };
        NodeUnstageVolume: GrpcUnaryServiceInterface<NodeUnstageVolumeRequest, NodeUnstageVolumeResponse> = (message: NodeUnstageVolumeRequest, metadata: grpc_1.Metadata | grpc_1.CallOptions | grpc_1.requestCallback<NodeUnstageVolumeResponse>, options?: grpc_1.CallOptions | grpc_1.requestCallback<NodeUnstageVolumeResponse>, callback?: grpc_1.requestCallback<NodeUnstageVolumeResponse>): grpc_1.ClientUnaryCall => {
            return super.NodeUnstageVolume(message, metadata, options, callback);
        };
        NodePublishVolume: GrpcUnaryServiceInterface<NodePublishVolumeRequest, NodePublishVolumeResponse> = (message: NodePublishVolumeRequest, metadata: grpc_1.Metadata | grpc_1.CallOptions | grpc_1.requestCallback<NodePublishVolumeResponse>, options?: grpc_1.CallOptions | grpc_1.requestCallback<NodePublishVolumeResponse>, callback?: grpc_1.requestCallback<NodePublishVolumeResponse>): grpc_1.ClientUnaryCall => {
            return super.NodePublishVolume(message, metadata, options, callback);
        };
        NodeUnpublishVolume: GrpcUnaryServiceInterface<NodeUnpublishVolumeRequest, NodeUnpublishVolumeResponse> = (message: NodeUnpublishVolumeRequest, metadata: grpc_1.Metadata | grpc_1.CallOptions | grpc_1.requestCallback<NodeUnpublishVolumeResponse>, options?: grpc_1.CallOptions | grpc_1.requestCallback<NodeUnpublishVolumeResponse>, callback?: grpc_1.requestCallback<NodeUnpublishVolumeResponse>): grpc_1.ClientUnaryCall => {
            return super.NodeUnpublishVolume(message, metadata, options, callback);
        };
        NodeGetVolumeStats: GrpcUnaryServiceInterface<NodeGetVolumeStatsRequest, NodeGetVolumeStatsResponse> = (message: NodeGetVolumeStatsRequest, metadata: grpc_1.Metadata | grpc_1.CallOptions | grpc_1.requestCallback<NodeGetVolumeStatsResponse>, options?: grpc_1.CallOptions | grpc_1.requestCallback<NodeGetVolumeStatsResponse>, callback?: grpc_1.requestCallback<NodeGetVolumeStatsResponse>): grpc_1.ClientUnaryCall => {
            return super.NodeGetVolumeStats(message, metadata, options, callback);
        };
        NodeExpandVolume: GrpcUnaryServiceInterface<NodeExpandVolumeRequest, NodeExpandVolumeResponse> = (message: NodeExpandVolumeRequest, metadata: grpc_1.Metadata | grpc_1.CallOptions | grpc_1.requestCallback<NodeExpandVolumeResponse>, options?: grpc_1.CallOptions | grpc_1.requestCallback<NodeExpandVolumeResponse>, callback?: grpc_1.requestCallback<NodeExpandVolumeResponse>): grpc_1.ClientUnaryCall => {
            return super.NodeExpandVolume(message, metadata, options, callback);
        };
        NodeGetCapabilities: GrpcUnaryServiceInterface<NodeGetCapabilitiesRequest, NodeGetCapabilitiesResponse> = (message: NodeGetCapabilitiesRequest, metadata: grpc_1.Metadata | grpc_1.CallOptions | grpc_1.requestCallback<NodeGetCapabilitiesResponse>, options?: grpc_1.CallOptions | grpc_1.requestCallback<NodeGetCapabilitiesResponse>, callback?: grpc_1.requestCallback<NodeGetCapabilitiesResponse>): grpc_1.ClientUnaryCall => {
            return super.NodeGetCapabilities(message, metadata, options, callback);
        };
        NodeGetInfo: GrpcUnaryServiceInterface<NodeGetInfoRequest, NodeGetInfoResponse> = (message: NodeGetInfoRequest, metadata: grpc_1.Metadata | grpc_1.CallOptions | grpc_1.requestCallback<NodeGetInfoResponse>, options?: grpc_1.CallOptions | grpc_1.requestCallback<NodeGetInfoResponse>, callback?: grpc_1.requestCallback<NodeGetInfoResponse>): grpc_1.ClientUnaryCall => {
            return super.NodeGetInfo(message, metadata, options, callback);
        };
    }
}
