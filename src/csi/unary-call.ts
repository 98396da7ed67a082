/**
 * Makes a unary call on a channel of grpc-js. `Client.makeUnaryRequest` does the same with interceptors, an event emitter and a
 * stack trace, which no call here needs and which take a quarter of its CPU time (docs/maintainers/benchmark-history.md).
 */
import { type Client, Metadata, type StatusObject, status } from '@grpc/grpc-js';
import { messageOf } from '../errors.js';

interface UnaryRequest<Answer> {
  /** `/csi.v1.Controller/CreateVolume` */
  path: string;
  bytes: Buffer;
  /** Milliseconds since the epoch. */
  deadline: number;
  decode(bytes: Buffer): Answer;
  /** Called once, with the answer or with the status that says why there is none. */
  ended(answer: Answer | undefined, failure: Failure | null): void;
}

type Failure = Pick<StatusObject, 'code' | 'details'>;

const noMessage: Failure = { code: status.UNIMPLEMENTED, details: 'No message received' };

/** Returns a function that cancels the call. */
export function unaryCall<Answer>(
  client: Client,
  { path, bytes, deadline, decode, ended }: UnaryRequest<Answer>,
): () => void {
  let answer: Answer | undefined;
  let fault: Failure | undefined;
  const call = client.getChannel().createCall(path, deadline, null, null, null);
  /** Cancels the call; the first fault counts, whatever status follows. */
  const refuse = (code: status, details: string): void => {
    fault ??= { code, details };
    call.cancelWithStatus(code, details);
  };
  call.start(new Metadata(), {
    onReceiveMetadata: () => {},
    onReceiveMessage: (message) => {
      if (answer !== undefined) {
        refuse(status.UNIMPLEMENTED, 'Too many responses received');
        return;
      }
      // A second answer would never be read otherwise, nor the status behind it.
      call.startRead();
      try {
        answer = decode(message);
      } catch (error) {
        refuse(status.INTERNAL, `Response message parsing error: ${messageOf(error)}`);
      }
    },
    onReceiveStatus: ({ code, details }) => {
      const failure = fault ?? (code === status.OK ? undefined : { code, details });
      if (failure) ended(undefined, failure);
      else ended(answer, answer === undefined ? noMessage : null);
    },
  });
  call.startRead();
  call.sendMessageWithContext({}, bytes);
  call.halfClose();
  return () => call.cancelWithStatus(status.CANCELLED, 'Cancelled on client');
}
