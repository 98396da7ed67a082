/** What reaches an actor, and how its journal names where that came from. */
import type { AnyEventObject } from 'xstate';
import type { ActorMessage } from '../delivery/inbox.js';
import type { Saying } from '../effects/effect-runner.js';
import type { EntrySource } from './actor-record.js';
import type { Change } from './engine-changes.js';

export type Mail =
  | {
      kind: 'request';
      event: AnyEventObject;
      requestId?: string;
      resolve(value: unknown): void;
      reject(error: unknown): void;
    }
  | { kind: 'message'; message: ActorMessage; applied(): void }
  | { kind: 'effect'; id: string; seq: number; event: AnyEventObject; says: Saying }
  | { kind: 'timer'; id: string; seq: number; event: AnyEventObject }
  | { kind: 'engine'; change: Change };

export type Request = Extract<Mail, { kind: 'request' }>;

export function sourceOf(mail: Mail): EntrySource {
  switch (mail.kind) {
    case 'request':
      return mail.requestId ? { kind: 'request', requestId: mail.requestId } : { kind: 'request' };
    case 'message':
      return { kind: 'message', ...mail.message.from };
    case 'engine':
      return { kind: 'engine' };
    default:
      return { kind: mail.kind, id: mail.id, seq: mail.seq };
  }
}
