/** Questions between the driver's process and its parent: their contents, and how each side asks and answers. */
import { type ErrorCode, messageOf, StagecraftError } from '../../errors.js';
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

/** Questions that one side answers, each with one argument. */
type Answers = { [what: string]: (argument: never) => unknown };

export type Ask<Theirs extends Answers> = <What extends keyof Theirs & string>(
  what: What,
  argument: Parameters<Theirs[What]>[0],
) => Promise<Awaited<ReturnType<Theirs[What]>>>;

/** One end of the channel. */
export interface Port {
  send(message: LinkMessage): void;
  onMessage(receive: (message: LinkMessage) => void): void;
}

export type LinkMessage =
  | { id: number; what: string; argument: unknown }
  | { id: number; result: unknown }
  | { id: number; failure: { code?: ErrorCode | undefined; message: string } };

interface Pending {
  resolve(result: unknown): void;
  reject(failure: Error): void;
}

/**
 * @param ours answers of this side
 * @returns a function that asks the other side; `close` rejects open questions
 */
export function link<Theirs extends Answers>(
  port: Port,
  ours: Answers,
): { ask: Ask<Theirs>; close(reason: string): void } {
  const pending = new Map<number, Pending>();
  let lastId = 0;
  port.onMessage((message) => {
    if ('what' in message) return void answer(port, ours, message);
    const asked = pending.get(message.id);
    pending.delete(message.id);
    if ('result' in message) asked?.resolve(message.result);
    else asked?.reject(failureOf(message.failure));
  });
  return {
    // The type of the other side's answers decides.
    ask: (what, argument) =>
      new Promise((resolve, reject) => {
        lastId += 1;
        pending.set(lastId, { resolve: resolve as Pending['resolve'], reject });
        port.send({ id: lastId, what, argument });
      }),
    close: (reason) => {
      for (const { reject } of pending.values()) reject(new StagecraftError('ABORTED', reason));
      pending.clear();
    },
  };
}

async function answer(
  port: Port,
  ours: Answers,
  { id, what, argument }: { id: number; what: string; argument: unknown },
) {
  try {
    const answerer = ours[what];
    if (!answerer) throw new TypeError(`nobody answers ${what} here`);
    const result: unknown = await answerer(argument as never); // of the type that the other side's `ask` demands
    port.send({ id, result });
  } catch (error) {
    const code = error instanceof StagecraftError ? error.code : undefined;
    port.send({ id, failure: { code, message: messageOf(error) } });
  }
}

const failureOf = ({ code, message }: { code?: ErrorCode | undefined; message: string }): Error =>
  code ? new StagecraftError(code, message) : new Error(message);
