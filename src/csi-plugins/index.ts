/** Entry point `stagecraft/csi`: talks to CSI plugins without the rest of Stagecraft. */

export { type AnswerClass, answerClassOf, type RpcName } from '../csi/answers.js';
export { CsiClient, type CsiClientOptions, type NodeInfo } from '../csi/client.js';
export type { Given } from '../csi/codec.js';
export type { CallOptions } from '../csi/csi-calls.js';
export { type LeftOut, leftOutOf } from '../csi/fields.js';
/** Requests and answers of the client. */
export type * from '../csi/generated/plain.js';
export { type GrpcCode, grpcCodeOf, grpcCodes } from '../csi/grpc-codes.js';
export { masked } from '../csi/secrets.js';
export { StagecraftError } from '../errors.js';
export { type CsiPluginType, csiDispensers } from './dispenser.js';
