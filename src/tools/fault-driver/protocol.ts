/** Questions between the driver's process and its parent. */
import type { Director } from './call.js';
import type { Offers } from './judge/violations.js';
import type { PlainDriverOptions } from './plain-options.js';

export interface ServeOptions extends PlainDriverOptions {
  socketPath: string;
  takesOver: boolean;
  leavesSocket: boolean;
}

/** Questions that the driver's process answers. */
export type DriverAnswers = {
  /** Resolves once calls are answered. */
  serve(options: ServeOptions): Promise<Offers>;
  replaceSocket(nothing: undefined): Promise<void>;
};

/** Questions that the parent answers. */
export type DirectorAnswers = {
  begin(arrival: Parameters<Director['begin']>[0]): ReturnType<Director['begin']>;
  gone(left: Parameters<Director['gone']>[0]): Promise<void>;
  ended(ended: Parameters<Director['ended']>[0]): Promise<void>;
  released(number: number): Promise<void>;
  freeze(nothing: undefined): Promise<void>;
  die(dying: Parameters<Director['die']>[0]): Promise<never>;
};
