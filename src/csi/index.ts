/** Entry point `stagecraft/csi`: talks to CSI plugins without the rest of Stagecraft. */
export { StagecraftError } from '../errors.js';
export { type AnswerClass, answerClassOf, type RpcName } from './answers.js';
export type { CallOptions } from './calls.js';
export { CsiClient, type CsiClientOptions, type NodeInfo } from './client.js';
export type { Given } from './codec.js';
export { type GrpcCode, grpcCodeOf, grpcCodes } from './codes.js';
export { type CsiPluginType, csiDispensers } from './dispenser.js';
/** Requests and answers as the client takes and gives them. */
export type * from './generated/plain.js';
export { masked } from './secrets.js';
