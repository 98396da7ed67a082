/**
 * This agent among those on one store: requests that another one has to work on, calls that another one has to make, and the
 * roster of all. On a store of one process there is no wire, and nothing of this exists. Why:
 * docs/decisions/0023-any-agent-takes-requests.md
 */
import { type Clock, pause } from '../engine/clock.js';
import { Closing } from '../engine/closing.js';
import type { Logger } from '../engine/logger.js';
import { oneAtATime } from '../engine/one-at-a-time.js';
import type { Wire } from '../engine/store.js';
import { messageOf, StagecraftError } from '../errors.js';
import { CallClient, type Callee } from './call-client.js';
import { CallServer, type CallServerOptions } from './call-server.js';
import type { MessageCounts, MessageOutcome } from './message-counts.js';
import { decodeMessage, encodeMessage, type Notice, Repeats } from './messages.js';
import { isRemovedBefore, type OwnerRoute, ownWork, RequestClient, type RequestOptions } from './request-client.js';
import { type Method, RequestServer } from './request-server.js';
import { type Member, Presence, type PresenceOptions, Roster } from './roster.js';

interface ClusterOptions {
  wire: Wire;
  nodeId: string;
  /** Names this run of the agent. */
  run: string;
  messages: MessageCounts;
  clock: Clock;
  logger: Logger;
  /** Where the agent that works on volumes reads; undefined: not known. @throws {Error} the store is away */
  route(): Promise<OwnerRoute | undefined>;
  /** Why this agent does not work on volumes; undefined: it does. */
  refusal(): StagecraftError | undefined;
  /** Epoch of the term in which it does; undefined: it does not. */
  epoch(): number | undefined;
  /** Called when the agent that worked on volumes has released its lease. */
  released(): void;
}

interface ClusterEvents {
  noticed(notice: Notice): void;
}

/** Time between two tries of a request that this agent had to give up. */
const againMs = 50;
const listenAgainMs = 1_000;
/** A read at another agent takes no longer. */
const readMs = 5_000;
/** Agents that are told of a released lease. */
const mostSuccessors = 3;

/** Does a request here. @param timeoutMs what is left of its time limit; undefined: it has none */
type Local<T> = (timeoutMs: number | undefined) => Promise<T>;

/** Inbox of a run of an agent. */
export const inboxOf = (nodeId: string, run: string): string => `${nodeId}/${run}`;

export class Cluster {
  readonly roster: Roster;
  readonly calls: CallClient;
  /** Inbox of this run of the agent: no other run has it. */
  readonly inbox: string;
  readonly #options: ClusterOptions;
  readonly #methods = new Map<string, Method>();
  readonly #stop = new AbortController();
  readonly #client: RequestClient;
  readonly #server: RequestServer;
  #callServer: CallServer | undefined;
  #noticed: (notice: Notice) => void = () => {};
  #presence: Presence | undefined;
  #sent = 0;
  readonly #repeats = new Repeats();
  readonly #refresh = oneAtATime(async () => void (await this.roster.read()));
  readonly #closing = new Closing();

  constructor(options: ClusterOptions) {
    this.#options = options;
    this.inbox = inboxOf(options.nodeId, options.run);
    const { wire, clock } = options;
    const sender = { wire, clock, inbox: this.inbox, nextSend: () => this.#nextSend() };
    this.roster = new Roster(options);
    this.#client = new RequestClient({ ...options, ...sender });
    this.#server = new RequestServer({ ...options, methods: this.#methods });
    this.calls = new CallClient(sender);
    this.roster.onChange(() => this.calls.lost((callee) => lossOf(callee, this.roster.members.get(callee.nodeId))));
  }

  /** Requests made here that another agent has not answered yet. */
  get requestsUnderWay(): number {
    return this.#client.underWay;
  }

  /** Makes a method known to other agents. */
  serve(name: string, method: Method): void {
    this.#methods.set(name, method);
  }

  /** Makes calls to plugins of this host for other agents. */
  serveCalls(options: Pick<CallServerOptions, 'access' | 'locks' | 'secrets' | 'methods'>): void {
    this.#callServer = new CallServer({ ...this.#options, ...options });
  }

  /**
   * Begins to receive messages, and joins the roster. Without the store it tries again until that answers.
   * @param start `noticed`: called when the agent that works on volumes says that one which is mounted here is to be looked at
   */
  async start({ noticed, ...entry }: Pick<PresenceOptions, 'entry' | 'watch'> & ClusterEvents): Promise<void> {
    this.#noticed = noticed;
    await this.#listen();
    this.#presence = new Presence({ ...this.#options, ...entry, inbox: this.inbox });
    await this.#presence.start();
  }

  /** Does a request here, or has it done by the agent that works on volumes. Its time limit is for all tries together. */
  async run<T>(name: string, args: unknown[], local: Local<T>, wait: RequestOptions = {}): Promise<T> {
    const { clock } = this.#options;
    const beganMs = clock.monotonicMs();
    for (let isRepeat = false; ; isRepeat = true) {
      const spentMs = isRepeat ? Math.floor(clock.monotonicMs() - beganMs) : 0;
      const timeoutMs = wait.timeoutMs === undefined ? undefined : Math.max(wait.timeoutMs - spentMs, 1);
      try {
        if (!this.#options.refusal()) return await this.#ownAnswer(() => local(timeoutMs));
        this.#closing.refuseIfClosed();
        const answer = await this.#client.request(name, args, { ...wait, timeoutMs });
        // The answer of another agent is what the same method has returned there.
        if (answer !== ownWork) return answer as T;
      } catch (error) {
        // Such methods return nothing.
        if (isRepeat && error instanceof StagecraftError && isRemovedBefore(name, error.code)) return undefined as T;
        if (this.#closing.reason || !isMoved(error)) throw error;
        await pause(clock, againMs, wait.signal);
      }
    }
  }

  /**
   * Has something read by the agent that works on volumes, as this one can't read its record.
   * @throws {Error} `why` it can't, if that agent does not answer; the error of that agent
   */
  async readElsewhere<T>(name: string, args: unknown[], why: unknown): Promise<T> {
    if (!isMoved(why) || !this.#options.refusal() || this.#closing.reason) throw why;
    const answer = await this.#client.request(name, args, { timeoutMs: readMs }).catch((error: unknown) => {
      throw error instanceof StagecraftError && error.code === 'TIMEOUT' ? why : error;
    });
    if (answer === ownWork) throw why;
    return answer as T;
  }

  /** @throws {StagecraftError} the error of the work; NOT_LEADER: the term has ended meanwhile, so its answer may be old */
  async #ownAnswer<T>(work: () => Promise<T>): Promise<T> {
    const epoch = this.#options.epoch();
    const isOld = (): boolean => !this.#closing.reason && this.#options.epoch() !== epoch;
    let answer: T;
    try {
      answer = await work();
    } catch (error) {
      throw isOld() && !isFinal(error) ? old : error;
    }
    if (isOld()) throw old;
    return answer;
  }

  /** Reads the roster again. @throws {StagecraftError} STORE_UNAVAILABLE */
  async refresh(): Promise<void> {
    try {
      await this.roster.read();
    } catch (cause) {
      const message = `the store does not answer (${messageOf(cause)}): nothing was asked, ask again later`;
      throw new StagecraftError('STORE_UNAVAILABLE', message, { outcome: 'refused', cause });
    }
  }

  /** Lets agents that can work on volumes know that nobody does any more. */
  async handOver(): Promise<void> {
    const { wire, nodeId } = this.#options;
    const able = [...this.roster.members.values()].filter((one) => one.nodeId !== nodeId && isPresent(one));
    const best = able.toSorted((one, other) => Number(hasController(other)) - Number(hasController(one)));
    const text = encodeMessage({ type: 'released', id: this.inbox });
    await Promise.allSettled(best.slice(0, mostSuccessors).map(({ inbox }) => wire.post(inbox, text)));
  }

  /** Sends a notice to the agent of a node, as far as that is known and the store answers. */
  async notify(nodeId: string, notice: Notice): Promise<void> {
    const { wire, logger } = this.#options;
    const text = encodeMessage({ type: 'notice', id: this.inbox, ...notice });
    const posted = async (): Promise<boolean> => {
      const member = this.roster.members.get(nodeId);
      return member !== undefined && (await wire.post(member.inbox, text));
    };
    try {
      if (await posted()) return;
      // The agent may have just started.
      await this.#refresh();
      await posted();
    } catch (error) {
      logger.debug({ nodeId }, `a notice to the agent of a node may be lost: ${messageOf(error)}`);
    }
  }

  /** Ends the requests of other agents: this one works on volumes no more. */
  termOver(): void {
    this.#server.termOver();
  }

  /** Accepts nothing more. */
  refuse(reason?: StagecraftError): void {
    this.#client.close(this.#closing.close(reason));
  }

  /** Ends the calls that it makes for others, leaves the roster, and receives nothing more. */
  async stop(): Promise<void> {
    this.roster.unfollow();
    this.#callServer?.close();
    this.#server.close();
    await this.#presence?.stop();
    this.calls.close(new StagecraftError('RUNTIME_CLOSED', 'the runtime was closed', { outcome: 'unknown' }));
    this.#stop.abort();
  }

  async #listen(): Promise<void> {
    const { wire, logger, clock } = this.#options;
    const { signal } = this.#stop;
    try {
      await wire.listen(this.inbox, (text, ageMs) => this.#receive(text, ageMs), signal);
    } catch (error) {
      logger.warn({}, `messages of other agents can't be read yet (${messageOf(error)}); this is tried again`);
      void pause(clock, listenAgainMs, signal).then(() => (signal.aborted ? undefined : this.#listen()));
    }
  }

  #receive(text: string, ageMs: number): void {
    const outcome = this.#outcomeOf(text, ageMs);
    if (outcome) this.#options.messages.add(outcome);
  }

  #outcomeOf(text: string, ageMs: number): MessageOutcome | undefined {
    const message = decodeMessage(text);
    if (typeof message === 'string') return message;
    if ('send' in message && this.#repeats.isRepeated(message)) return 'repeated';
    switch (message.type) {
      case 'request':
        return this.#server.receive(message, ageMs);
      case 'cancel':
        return this.#callServer?.cancel(message.id) ? 'accepted' : this.#server.receive(message, ageMs);
      case 'call':
        return this.#callServer?.receive(message, ageMs);
      case 'called':
        return this.calls.receive(message);
      case 'released':
        this.#options.released();
        return 'accepted';
      case 'notice':
        this.#noticed(message);
        return 'accepted';
      default:
        return this.#client.receive(message);
    }
  }

  #nextSend(): number {
    this.#sent += 1;
    return this.#sent;
  }
}

const old = new StagecraftError('NOT_LEADER', 'the term in which this was asked has ended');

/** Errors that stand whoever works on volumes now. */
const finalCodes = new Set(['TIMEOUT', 'ABORTED', 'STORE_UNAVAILABLE']);

const isFinal = (error: unknown): boolean => error instanceof StagecraftError && finalCodes.has(error.code);

const isMoved = (error: unknown): boolean => error instanceof StagecraftError && error.code === 'NOT_LEADER';

const isPresent = ({ silentSinceMs }: Member): boolean => silentSinceMs === undefined;

/** Whether an agent has a controller plugin that can be called. */
const hasController = ({ plugins }: Pick<Member, 'plugins'>): boolean =>
  Object.values(plugins).some(({ types, trouble }) => types.includes('csi-controller') && trouble === undefined);

/** Returns why a call of this agent gets no answer any more. */
function lossOf({ nodeId, inbox }: Callee, member: Member | undefined): string | undefined {
  if (!member || member.inbox !== inbox) return `the agent of node ${nodeId} has ended`;
  if (isPresent(member)) return undefined;
  return `the agent of node ${nodeId} is silent`;
}
