/** Entry point `stagecraft/csi`: talks to CSI plugins without the rest of Stagecraft. */
export {
  type CallOptions,
  CsiClient,
  type CsiClientOptions,
  type NodeInfo,
  type PluginIdentity,
} from './client.js';
export { type GrpcCode, grpcCodeOf, grpcCodes } from './codes.js';
export { type CsiPluginType, csiDispensers } from './dispenser.js';
/** All messages, clients and service definitions of CSI, as generated. */
export { csi } from './generated/csi.js';
/** `google.protobuf.Timestamp`, as the messages use it. */
export { google as timestamp } from './generated/google/protobuf/timestamp.js';
/** `google.protobuf.BoolValue` and the like, as the messages use them. */
export { google as wrappers } from './generated/google/protobuf/wrappers.js';
