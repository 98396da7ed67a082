/** A real agent as a child process, driven and watched the way an operator would: its output, its API, its signals. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import type { PluginReport } from '../../src/api/agent-routes.js';
import { parseMountInfo } from '../../src/host/mount-table.js';
import { askAgent } from '../support/ask-agent.js';
import { until } from '../until.js';

export const mainPath = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));

/** What a command has said on stderr, but for what it waited for: on a machine that is busy it may say that at any time. */
export const complaintsIn = (stderr: string): string => stderr.replaceAll(/^waiting( for \d+ s)?: .*\n/gm, '');

/** A place for one agent: its configuration and its data. */
export interface Place {
  directory: string;
  dataDir: string;
  configPath: string;
  socketPath: string;
}

/** A directory with a configuration for the bundled driver; `tasks` are merged over its task. */
export function makePlace(task: object = {}, config: object = {}): Place {
  const directory = mkdtempSync(join(tmpdir(), 'stagecraft-'));
  const dataDir = join(directory, 'data');
  const configPath = join(directory, 'agent.yaml');
  const hostpath = { id: 'hostpath', type: 'node', command: ['stagecraft', 'driver', '--node-id', 'n1'], ...task };
  // Other tests may have the default port.
  const inspector = { listen: '127.0.0.1:0' };
  writeFileSync(configPath, stringify({ nodeId: 'n1', dataDir, tasks: [hostpath], inspector, ...config }));
  return { directory, dataDir, configPath, socketPath: join(dataDir, 'agent.sock') };
}

export class AgentProcess {
  readonly child: ChildProcess;
  readonly lines: string[] = [];
  readonly #exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  #ended = false;

  /**
   * @param program what node is given: `stagecraft agent`, or one that takes the same configuration
   * @param given how it is given its configuration; empty: it finds that in the directory of its place
   * @param uid whose process it is; default root's
   */
  constructor(
    readonly place: Place,
    program: string[] = [mainPath, 'agent'],
    given: string[] = ['--config', place.configPath],
    uid?: number,
  ) {
    this.child = spawn(process.execPath, [...program, ...given], {
      ...(given.length === 0 && { cwd: place.directory }),
      ...(uid !== undefined && { uid }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      if (stream) createInterface({ input: stream }).on('line', (line) => this.lines.push(line));
    }
    this.#exited = new Promise((resolve) => {
      // By then all that it said was read: its exit may come before.
      this.child.once('close', (code, signal) => {
        this.#ended = true;
        resolve({ code, signal });
      });
    });
  }

  /** Resolves with the first line after the given count of lines that matches. @throws Error if the agent ends without it */
  async line(pattern: RegExp, after = 0): Promise<string> {
    const found = (): string | undefined => this.lines.slice(after).find((line) => pattern.test(line));
    const all = (): string => `without ${pattern}; it said:\n${this.lines.join('\n')}`;
    await until(() => this.#ended || found() !== undefined, all);
    const line = found();
    if (line === undefined) throw new Error(`the agent ended ${all()}`);
    return line;
  }

  /** What it said last to its operator; its log, which is JSON, may go on beside that. */
  get lastWord(): string | undefined {
    return this.lines.findLast((line) => !line.startsWith('{'));
  }

  /** Resolves once its API answers. */
  async ready(): Promise<void> {
    await this.line(/^ {2}api /);
  }

  async healthy(): Promise<PluginReport> {
    const path = '/v1/plugins/csi-node/hostpath?waitFor=healthy&timeoutMs=120000';
    return (await askAgent(this.place.socketPath, 'GET', path)) as PluginReport;
  }

  async kill(signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    this.child.kill(signal);
    return this.#exited;
  }

  get exited(): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    return this.#exited;
  }
}

/** What the API answers, as far as HTTP has it. */
export interface Answer {
  status: number | undefined;
  /** Of an error. */
  code: unknown;
}

/** @param body an object is sent as JSON, a text as it is */
export const answerOf = (socketPath: string, method: string, path: string, body?: object | string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const headers = body ? { 'content-type': 'application/json' } : {};
    const call = request({ socketPath, method, path, headers }, (response) => {
      let text = '';
      response.on('data', (part) => {
        text += part;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode, code: text ? JSON.parse(text).code : undefined }),
      );
    });
    call.on('error', reject);
    call.end(typeof body === 'string' ? body : body && JSON.stringify(body));
  });

/** Pids of the plugin processes of this place, by what is in their environment. */
export function pluginPids({ dataDir }: Pick<Place, 'dataDir'>): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      if (!Number.isInteger(pid)) return false;
      try {
        const dead = readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z ');
        return !dead && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`STAGECRAFT_TASK=${dataDir}#`);
      } catch {
        return false; // it is gone
      }
    });
}

/** What is mounted in this place, from the outermost on. */
export const mountsIn = ({ directory }: Pick<Place, 'directory'>): string[] =>
  parseMountInfo(readFileSync('/proc/self/mountinfo', 'utf8'))
    .map(({ path }) => path)
    .filter((path) => existsSync(directory) && path.startsWith(`${realpathSync(directory)}/`));

/** The loop devices of images in this place. */
function loopDevicesIn({ directory }: Pick<Place, 'directory'>): string[] {
  return readdirSync('/sys/block').flatMap((device) => {
    try {
      const image = readFileSync(`/sys/block/${device}/loop/backing_file`, 'utf8');
      return image.startsWith(`${realpathSync(directory)}/`) ? [`/dev/${device}`] : [];
    } catch {
      return []; // it is none, or free
    }
  });
}

/** Takes away what a failed test may have left mounted in this place. */
export function unmountAll(place: Pick<Place, 'directory'>): void {
  for (const path of mountsIn(place).reverse()) execFileSync('umount', ['--lazy', '--no-canonicalize', path]);
  for (const device of loopDevicesIn(place)) execFileSync('losetup', ['--detach', device]);
}

/** Ends what a failed test may have left, and removes the place. */
export function removePlace(place: Place, agent?: AgentProcess): void {
  agent?.child.kill('SIGKILL');
  for (const pid of pluginPids(place)) process.kill(pid, 'SIGKILL');
  unmountAll(place);
  rmSync(place.directory, { recursive: true, force: true });
}
