/** The port behind which a kind of plugin stands: how to connect to one, and how to look at it. */
import type { Fingerprint, PluginBasics, PluginInfo } from '../../machines/plugin/plugin.js';

export interface FingerprintRequest {
  info: PluginInfo;
  /** Aborted when the time of the round is over or the instance shuts down. */
  signal: AbortSignal;
  /** Basics read by an earlier probe of this instance; they need not be read again. */
  basic?: PluginBasics;
}

/** Result of one probe. A missing description is replaced by a plain one. */
export type Looked = Omit<Fingerprint, 'description'> & Partial<Pick<Fingerprint, 'description'>>;

/**
 * Copies and checks the answer of a dispenser: it may lack parts, or change later.
 * @throws Error naming the invalid part
 */
export function fingerprintOf(answer: Looked): Fingerprint {
  if (!(answer instanceof Object)) throw new Error('the look at it gave no result');
  const { healthy, ...rest }: Partial<Fingerprint> = JSON.parse(JSON.stringify(answer));
  checkParts(rest);
  const { description } = rest;
  const isHealthy = healthy === true;
  return { healthy: isHealthy, description: description ?? (isHealthy ? 'ready' : 'not healthy'), ...rest };
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isObject = (value: unknown): boolean => value instanceof Object && !Array.isArray(value);
const text = { what: 'a string', fits: isText };
const texts = { what: 'a list of strings', fits: (value: unknown) => Array.isArray(value) && value.every(isText) };
const part = { what: 'an object', fits: isObject };

/** What each part has to be where it is there. Beside them a kind of plugin may tell what it likes. */
const shapes: Record<string, { what: string; fits(value: unknown): boolean }> = {
  description: text,
  capabilities: texts,
  basic: part,
  'basic.pluginName': text,
  'basic.vendorVersion': text,
  'basic.pluginCapabilities': texts,
  'basic.nodeId': text,
  'basic.maxVolumes': { what: 'a number', fits: (value) => typeof value === 'number' },
  'basic.topology': {
    what: 'an object of strings',
    fits: (value) => isObject(value) && Object.values(Object(value)).every(isText),
  },
};

function checkParts(found: object, within = ''): void {
  for (const [name, value] of Object.entries(found)) {
    const path = within + name;
    const shape = shapes[path];
    if (shape && !shape.fits(value)) throw new Error(`the look at it gave ${path} that is not ${shape.what}`);
    if (shape === part) checkParts(value, `${path}.`);
  }
}

/**
 * A kind of plugin, e.g. `csi-node`. Add one by handing it to `createRuntime({ dispensers })`: registration, health,
 * events and persistence work for it unchanged. With an example: docs/kinds-of-plugins.md
 */
export interface Dispenser<TClient = unknown> {
  /**
   * Makes a client of one instance; must not wait for the other side. Called again where that is defined anew or this
   * dispenser takes another's place, and for each look at the plugin of a task that comes up.
   */
  connect(info: PluginInfo): TClient;
  /**
   * Looks once. What it resolves with is kept; leave out what this round could not tell.
   * A rejection is taken as unhealthy with its message.
   */
  fingerprint(client: TClient, request: FingerprintRequest): Promise<Looked>;
  /**
   * Calls back when the connection was lost, so that the next look comes at once; the answer ends it.
   * Without it a loss is seen at the next round.
   */
  onDisconnect?(client: TClient, lost: () => void): () => void;
  /**
   * Called once for each client, when nothing needs it any more: its instance shuts down or is defined anew, another
   * dispenser takes over, a look of a task is over. From then on it refuses new calls. Those that others have in
   * flight may end before what this answers resolves; once `signal` is aborted (they have had 30 s, or the runtime has
   * ended) nobody waits any more, and they end with an error. Answer nothing where they were ended at once.
   */
  close(client: TClient, options: { signal: AbortSignal }): Promise<void> | void;
}
