/**
 * Every error code, once: its HTTP status, its exit code, whether the request is worth repeating, and what to do.
 * docs/errors.md is generated from this table; the HTTP API, the command line and the retries of allocs read it.
 */
import { resourceErrors } from './resource-errors.js';

export interface ErrorRow {
  /** The status of an HTTP answer with this code. Absent: the API never answers with it. */
  http?: number;
  /** How the command line ends with this code; default 1. */
  exit?: number;
  /** Whether the same request may succeed later, by itself or by what others do. Absent: the request has to change. */
  isRetryable?: true;
  /** When it happens, in Markdown; links are relative to docs/. */
  when: string;
  /** Remedy, in Markdown. */
  todo: string;
}

const rows = {
  INVALID_ARGUMENT: {
    http: 400,
    when: 'a value that is not allowed; `faults` lists each with its path',
    todo: 'correct it',
  },
  CONFIG_INVALID: {
    exit: 2,
    when: 'the configuration file has faults; each with file and line',
    todo: 'correct them',
  },
  PLUGIN_TYPE_MISSING: {
    http: 400,
    when: 'a registration without a type',
    todo: 'give one',
  },
  PLUGIN_NAME_MISSING: {
    http: 400,
    when: 'a registration without a name',
    todo: 'give one',
  },
  PLUGIN_ALLOC_ID_MISSING: {
    http: 400,
    when: 'a registration without an allocId',
    todo: 'give one',
  },
  SOCKET_PATH_MISSING: {
    http: 400,
    when: 'a registration or a setting without a socket path',
    todo: 'give an absolute path',
  },
  SOCKET_PATH_RELATIVE: {
    http: 400,
    when: 'a socket path that is not absolute',
    todo: 'give an absolute path',
  },
  SOCKET_PATH_TOO_LONG: {
    http: 400,
    when: 'a socket path above the 107 bytes that the kernel takes',
    todo: 'give a shorter path',
  },
  NO_DISPENSER: {
    http: 400,
    when: 'nothing here speaks to plugins of that type',
    todo: 'correct the type, or hand `createRuntime` a dispenser for it',
  },
  PLUGIN_NOT_FOUND: {
    http: 404,
    isRetryable: true,
    when: 'no such type, plugin or instance is registered',
    todo: 'list them; register it',
  },
  DEPENDENTS_UNKNOWN: {
    http: 500,
    when: 'the `dependents` function of `createRuntime` threw, gave no list of names, or took longer than 30 s',
    todo: 'correct the function, see the message',
  },
  TASK_NOT_FOUND: {
    http: 404,
    when: 'no such task',
    todo: 'list them; start it with its spec',
  },
  PLUGIN_IN_USE: {
    http: 409,
    when: "something uses the plugin of a task, e.g. a mounted volume, or it can't be known; nothing has changed",
    todo: 'release what the message names (`stagecraft alloc release`), or stop it with force. With another `stagePublishBaseDir` only a release helps. A task that was removed with force is not known any more, and so is not refused: start it again with the one that it had, as what is mounted is unmounted by that path',
  },
  TASK_STOP_FAILED: {
    http: 500,
    when: 'a process could not be ended',
    todo: 'see the message; it may hang in a call to its storage',
  },
  LOG_UNREADABLE: {
    http: 500,
    when: "the log of a task is there, but can't be read; or there is none, since somebody else runs its plugin",
    todo: 'see the message',
  },
  NOT_READY: {
    http: 500,
    when: 'a started plugin did not answer in time; the reason of a failed task',
    todo: 'see the end of its log, in the message',
  },
  ...resourceErrors,
  PLUGIN_UNAVAILABLE: {
    http: 503,
    isRetryable: true,
    when: 'the plugin takes no calls now: not registered, unhealthy, or silent; as the error of a volume or a snapshot: its work waits for that, or, as the message says then, for another call about the same volume, or for an earlier one that may still be under way',
    todo: 'see `stagecraft plugin status`; the work goes on by itself once it answers',
  },
  PLUGIN_LACKS: {
    http: 409,
    when: 'the plugin does not offer what is asked for; the capability is named. Not final: it has made the volume, and lacks it only on the host of the owner',
    todo: 'ask for something else, or take another plugin. Not final: run the plugin with its controller service there',
  },
  SECRETS_UNAVAILABLE: {
    http: 503,
    when: 'secrets of a call cannot be resolved; all that are missing are named, with why',
    todo: 'provide them: the call is tried again by itself',
  },
  CSI_ERROR: {
    http: 502,
    when: 'a plugin answered a call with an error: `rpc`, `grpcCode`, `answerClass`, `final`',
    todo: '`final`: change the request; `answerClass` says what the answer means, see [CSI answers](csi.md#answers)',
  },
  SOCKET_IN_USE: {
    when: 'the bundled driver finds another one alive on its socket',
    todo: 'stop that one, or choose another endpoint',
  },
  TIMEOUT: {
    http: 504,
    exit: 4,
    isRetryable: true,
    when: 'timed out; the message says what was waited for, or that work goes on',
    todo: 'wait longer, or look at the status',
  },
  ABORTED: {
    http: 409,
    isRetryable: true,
    when: 'given up by its signal, because the instance has ended, or because a task was started again',
    todo: 'nothing',
  },
  CURSOR_EXPIRED: {
    http: 410,
    when: "events after that cursor are no longer kept, or the topic has no such event (the store lost it, or it is another topic's)",
    todo: 'read the present state; follow from the id that the error has as `newest`, or as `oldest` to get all that is still kept, see [library.md](library.md#following-with-a-cursor)',
  },
  EVENT_DAMAGED: {
    http: 500,
    when: "an event that is followed can't be read: its text was damaged in the store",
    todo: 'read the present state; follow from `oldest`, which is the id of that event, to get what comes after it',
  },
  STORE_UNAVAILABLE: {
    http: 503,
    isRetryable: true,
    when: 'the store gave no answer, or takes nothing now; `outcome`: `refused`, nothing has changed; `unknown`, it may have',
    todo: '`refused`: ask again later; `unknown`: repeat under the same request id, or look at the state. While following: follow again from your last event',
  },
  STORE_DAMAGED: {
    exit: 2,
    when: "the embedded store can't be read as a whole, as found at the start: pages are damaged, or the file is empty or cut off",
    todo: 'restore `state/` from a backup, or move it away to begin without any record; the agent is not started again by itself',
  },
  STORE_UNUSABLE: {
    when: "the embedded store can't be opened, and nothing says that it is damaged: its directory can't be made, read or written, or the process that reads it first has ended",
    todo: 'see the message; where it names memory or a disk, repair that; where it names permissions, give the directory to the user of the agent; then start it again',
  },
  FENCED: {
    http: 503,
    isRetryable: true,
    when: 'another runtime has, or had, the lease of this node',
    todo: 'this agent has stopped; find the other agent with its nodeId, then start it again',
  },
  NOT_LEADER: {
    http: 409,
    isRetryable: true,
    when: "(only on a store of your own that several runtimes share without a `wire`; on Redis requests are sent to the owner) another runtime works on volumes and nodes; it is named. `outcome: 'unknown'`: it became so while this was on its way",
    todo: 'ask that runtime; after `unknown`, look at the state there, or ask for it again: the same request twice is one',
  },
  LEASE_LAPSED: {
    when: '(in records and events) a call that had waited was not made, since another agent may have taken over',
    todo: 'nothing: it is made when the lease is held again, or by that agent',
  },
  NODE_IN_USE: {
    when: 'another runtime holds the lease of this nodeId',
    todo: 'stop that one, or choose another nodeId',
  },
  STORE_TOO_NEW: {
    exit: 2,
    when: 'what is stored was written by a newer version than this agent, which is named; at the start, or (in `reason`) while it stands by',
    todo: 'update this agent, which is not started again by itself; to go back to an older version, restore a backup from before',
  },
  DATA_DIR_LOCKED: {
    when: 'another runtime, or driver, uses the data directory; its pid is named',
    todo: 'stop that one, or choose another directory',
  },
  DATA_DIR_UNUSABLE: {
    http: 500,
    when: "the data directory can't be made or locked, is in use for something else, is too long for sockets, or has something else in the place of a directory or file of ours",
    todo: 'name a directory of its own; see the message',
  },
  HOST_UNFIT: {
    http: 409,
    when: "volumes can't be mounted so that others see them: the mount that holds `<dataDir>/csi` is not shared and can't be made so, or something is mounted over a directory of Stagecraft's; or something else is mounted over what is staged, or in its place; or an alloc that is prepared is asked for again, and something else is seen where it has a volume",
    todo: 'run the commands of the message as root, or unmount what it names; where that is in the place of what was staged, or release all that use the volume here',
  },
  DATA_DIR_GONE: {
    when: '(agent) the data directory was removed or replaced under the running agent, or another one holds its lock file; the agent has ended',
    todo: 'start it again',
  },
  DRIVER_STATE_BROKEN: {
    when: "the bundled driver can't read a file of its data directory; it is named",
    todo: 'repair it, or move it away to continue without the object that it describes',
  },
  START_FAILED: {
    when: 'the runtime could not prepare its host or restore its actors',
    todo: 'see the message',
  },
  DRAIN_FAILED: {
    http: 500,
    when: "not everything could be released, as an alloc whose volume can't be unmounted within a minute, or nothing at all while the store gives no answer; the rest was closed",
    todo: 'see the message, which names what may run on, or is mounted still; start the agent again, once the store answers, then drain again: a release that is not done goes on by itself',
  },
  ACTOR_NOT_FOUND: {
    http: 404,
    when: "there is no such actor, or it is another node's",
    todo: 'correct the address',
  },
  ACTOR_CRASHED: {
    http: 500,
    when: 'its machine threw; it is as it was before the event',
    todo: 'report it, with the journal of that address',
  },
  ACTOR_QUARANTINED: {
    http: 409,
    when: "it crashed too often, its record can't be read, or the store holds another history of it",
    todo: 'see the message and the log; remove the cause, then `stagecraft actor release ADDRESS`',
  },
  JOURNAL_BROKEN: {
    http: 500,
    when: 'a replay finds an entry missing or of another version',
    todo: 'replay with the version that wrote it',
  },
  NO_EFFECT: {
    http: 500,
    when: 'a machine asks for an effect that this runtime does not run',
    todo: 'report it',
  },
  RUNTIME_CLOSED: {
    http: 503,
    isRetryable: true,
    when: 'the runtime was closed; or it was closed already when a release was asked for',
    todo: 'create it again where you need it',
  },
  CALL_FAILED: {
    http: 500,
    when: '(of a volume) a call could not be made, for a reason without a code of ours; `originalCode` has the code of what was thrown, if it has one',
    todo: 'see the message',
  },
  EFFECT_FAILED: {
    http: 500,
    when: '(in records and events) an effect threw an error without a code of ours; `originalCode` has the code of what was thrown, if it has one',
    todo: 'see the message',
  },
  NOT_FOUND: {
    http: 404,
    when: '(HTTP) no such path',
    todo: 'correct the path',
  },
  UNAUTHORIZED: {
    http: 401,
    when: '(HTTP, the page) the token is missing or wrong',
    todo: 'open the link that `stagecraft inspect` prints',
  },
  FORBIDDEN: {
    http: 403,
    when: '(HTTP, the page) the request comes from a page of somebody else, or names another host',
    todo: 'use the page itself, by the address that `stagecraft inspect` prints',
  },
  TOO_MANY_VIEWERS: {
    http: 503,
    when: '(HTTP, the page) as many look at the live feed as are allowed',
    todo: 'close a page that is not needed',
  },
  INTERNAL: {
    http: 500,
    when: '(HTTP) a fault of the agent',
    todo: "report it with the agent's log",
  },
  AGENT_LOST: {
    when: '(command line) the connection to the agent broke off',
    todo: 'look at the agent, ask again',
  },
  INTERRUPTED: {
    exit: 130,
    when: '(command line) Ctrl-C while it waited, exit code 130, the request stands; or (in journals) the runtime ended while a call was under way, which may have been made',
    todo: 'look at it again; calls are repeated by themselves',
  },
  NOT_REACHABLE: {
    exit: 3,
    when: '(command line) no agent answers, or (driver-check) no driver',
    todo: 'start it (`systemctl start stagecraft`), or give `--config` or `--socket` of the one that runs; of a driver, check that it runs',
  },
  NOT_PERMITTED: {
    when: "(command line) the agent is another user's",
    todo: 'run the command as the user that the message names, or as root',
  },
  DRIVER_CHECK_FAILED: {
    when: '(command line) the driver breaks rules of CSI',
    todo: 'see the rows that failed, [driver-check.md](driver-check.md)',
  },
  CLEAN_UP_FAILED: {
    when: '(driver-check) not all that a run made could be removed',
    todo: 'remove by hand what the message names',
  },
} satisfies Record<string, ErrorRow>;

/** Every code that a StagecraftError can have. */
export type ErrorCode = keyof typeof rows;

export const errorTable: Readonly<Record<ErrorCode, Readonly<ErrorRow>>> = rows;

/** Whether a text, e.g. the code of an error that somebody else's code has thrown, is one of ours. */
export const isErrorCode = (code: unknown): code is ErrorCode =>
  typeof code === 'string' && Object.hasOwn(errorTable, code);
