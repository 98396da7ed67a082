/** The commands that a transcript may have, each with the words that it is written in. */
import { volumeAddress } from '../../machines/kit/addresses.js';
import type { VolumeContext } from '../../machines/volume/types.js';
import type { GrpcCode } from '../../src/csi/grpc-codes.js';
import { volumeOf } from '../../src/volumes/volume-view.js';
import { type Cluster, pluginName } from './cluster.js';
import type { CallPlan } from './plugin.js';

const accessMode = 'single-node-writer';
const attachmentMode = 'file-system';
const gibibyte = 2 ** 30;

interface Command {
  /** As it is written; words in capitals stand for what is meant. */
  form: string;
  run(cluster: Cluster, words: Record<string, string>): Promise<void> | void;
}

const commands: Command[] = [
  { form: 'start', run: (cluster) => cluster.start() },
  { form: 'start on NODE', run: (cluster, { NODE }) => cluster.start(NODE) },
  { form: 'kill', run: (cluster) => cluster.kill() },
  { form: 'fence nodes that are down for TIME', run: (cluster, { TIME }) => cluster.fenceAfter(millisecondsIn(TIME)) },
  { form: 'wait TIME', run: (cluster, { TIME }) => cluster.pass(millisecondsIn(TIME)) },
  {
    form: 'create VOLUME of SIZE GiB',
    run: asked('create VOLUME', ({ volumes }, { VOLUME = '', SIZE }) =>
      volumes.create({
        ...{ id: VOLUME, plugin: pluginName, capabilities: [{ accessMode, attachmentMode }] },
        capacity: { requiredBytes: Number(SIZE) * gibibyte },
      }),
    ),
  },
  {
    form: 'publish VOLUME on NODE',
    run: asked('publish VOLUME on NODE', ({ volumes }, { VOLUME = '', NODE = '' }) =>
      volumes.publish({ id: VOLUME }, NODE),
    ),
  },
  {
    form: 'unpublish VOLUME from NODE',
    run: asked('unpublish VOLUME from NODE', ({ volumes }, { VOLUME = '', NODE = '' }) =>
      volumes.unpublish({ id: VOLUME }, NODE),
    ),
  },
  {
    form: 'claim VOLUME for ALLOC on NODE',
    run: asked('claim VOLUME for ALLOC on NODE', ({ volumes }, { VOLUME = '', ALLOC = '', NODE = '' }) =>
      volumes.claim({ id: VOLUME }, { allocId: ALLOC, nodeId: NODE, mode: 'write', accessMode, attachmentMode }),
    ),
  },
  {
    form: 'release VOLUME for ALLOC',
    run: asked('release VOLUME for ALLOC', ({ volumes }, { VOLUME = '', ALLOC = '' }) =>
      volumes.release({ id: VOLUME }, ALLOC),
    ),
  },
  {
    form: 'expand VOLUME to SIZE GiB',
    run: asked('expand VOLUME', ({ volumes }, { VOLUME = '', SIZE }) =>
      volumes.expand({ id: VOLUME }, { requiredBytes: Number(SIZE) * gibibyte }),
    ),
  },
  {
    form: 'delete VOLUME',
    run: asked('delete VOLUME', ({ volumes }, { VOLUME = '' }) => volumes.delete({ id: VOLUME })),
  },
  {
    form: 'delete VOLUME with force',
    run: asked('delete VOLUME with force', ({ volumes }, { VOLUME = '' }) =>
      volumes.delete({ id: VOLUME }, { force: true }),
    ),
  },
  {
    form: 'acknowledge VOLUME',
    run: asked('acknowledge VOLUME', ({ volumes }, { VOLUME = '' }) => volumes.acknowledge({ id: VOLUME })),
  },
  {
    form: 'retry VOLUME',
    run: asked('retry VOLUME', ({ volumes }, { VOLUME = '' }) => volumes.retry({ id: VOLUME })),
  },
  {
    form: 'node NODE reports',
    run: asked('node NODE reports', ({ nodes }, { NODE = '' }) =>
      nodes.report({ id: NODE, plugins: [{ name: pluginName, nodeId: NODE }] }),
    ),
  },
  { form: 'node NODE is down', run: asked('node NODE is down', ({ nodes }, { NODE = '' }) => nodes.down(NODE)) },
  {
    form: 'fence NODE',
    run: asked('fence NODE', ({ nodes }, { NODE = '' }) => nodes.fence(NODE, 'its power is off')),
  },
  {
    form: 'node NODE has unstaged VOLUME',
    run: (cluster, words) => {
      const { NODE = '', VOLUME = '' } = words;
      const claim = contextOf(cluster, VOLUME).claims.find(({ nodeId }) => nodeId === NODE);
      const report = { claimGeneration: claim?.generation ?? 0 };
      cluster.ask(filled('node NODE has unstaged VOLUME', words), ({ life: { nodes } }) =>
        nodes.reportUnstaged(NODE, { id: VOLUME }, report),
      );
    },
  },
  {
    form: 'node NODE has expanded VOLUME',
    run: (cluster, words) => {
      const { NODE = '', VOLUME = '' } = words;
      const { uid, expandedTo, csi } = contextOf(cluster, VOLUME);
      cluster.ask(filled('node NODE has expanded VOLUME', words), ({ life: { volumes } }) =>
        volumes.nodeExpanded(
          { id: VOLUME },
          {
            nodeId: NODE,
            uid,
            capacity: expandedTo ?? {},
            ...(csi?.capacityBytes && { capacityBytes: csi.capacityBytes }),
          },
        ),
      );
    },
  },
  {
    form: 'prepare ALLOC with VOLUME',
    run: (cluster, words) => {
      const { ALLOC = '', VOLUME = '' } = words;
      const { allocations } = cluster.worker;
      const volume = { name: VOLUME, volume: { id: VOLUME }, mode: 'write', taskPath: `/${VOLUME}` } as const;
      cluster.ask(filled('prepare ALLOC with VOLUME', words), () =>
        allocations.prepare(ALLOC, [{ ...volume, accessMode, attachmentMode }]),
      );
    },
  },
  {
    form: 'release ALLOC',
    run: (cluster, words) => {
      const { allocations } = cluster.worker;
      cluster.ask(filled('release ALLOC', words), () => allocations.release(words.ALLOC ?? ''));
    },
  },
  { form: 'next RPC answers CODE', run: planned(({ CODE }) => ({ code: CODE as GrpcCode, work: false })) },
  { form: 'next RPC is done but answers CODE', run: planned(({ CODE }) => ({ code: CODE as GrpcCode, work: true })) },
  { form: 'next RPC is done but never answers', run: planned(() => ({ isSilent: true })) },
  { form: 'next RPC never answers', run: planned(() => ({ isSilent: true, work: false })) },
  { form: 'next RPC takes TIME', run: planned(({ TIME }) => ({ takesMs: millisecondsIn(TIME) })) },
  { form: 'the plugin dies for TIME', run: (cluster, { TIME }) => cluster.pluginDies(millisecondsIn(TIME)) },
  {
    form: 'status VOLUME',
    run: (cluster, { VOLUME = '' }) => {
      const committed = cluster.committed(volumeAddress('default', VOLUME));
      const volume = committed && volumeOf(committed.value, committed.context as VolumeContext);
      cluster.output.line(
        volume ? `${VOLUME} is ${volume.state}${volume.error ? `: ${volume.error.message}` : ''}` : 'absent',
      );
      for (const [node, { state, message }] of Object.entries(volume?.publications ?? {}))
        cluster.output.line(`  on ${node}: ${state}${message === undefined ? '' : `: ${message}`}`);
    },
  },
];

/** Runs one command, and lets all present work come to rest. @throws Error where no command is written so */
export async function run(cluster: Cluster, text: string): Promise<void> {
  for (const { form, run } of commands) {
    const words = wordsIn(form, text);
    if (!words) continue;
    await run(cluster, words);
    await cluster.pass(0);
    return;
  }
  throw new Error(`there is no command '${text}'; there are:\n${commands.map(({ form }) => `  ${form}`).join('\n')}`);
}

/** What stands for the words in capitals. Absent: it is not written in this form. */
function wordsIn(form: string, text: string): Record<string, string> | undefined {
  const pattern = form.replace(/[A-Z]{3,}/g, (name) => `(?<${name}>${name === 'TIME' ? '\\d+ (?:ms|s|min)' : '\\S+'})`);
  const found = new RegExp(`^${pattern}$`).exec(text);
  return found ? { ...found.groups } : undefined;
}

const filled = (form: string, words: Record<string, string>): string =>
  form.replace(/[A-Z]{3,}/g, (name) => words[name] ?? name);

type Life = Cluster['running']['life'];

function asked(form: string, work: (life: Life, words: Record<string, string>) => Promise<unknown>): Command['run'] {
  return (cluster, words) => cluster.ask(filled(form, words), ({ life }) => work(life, words));
}

function planned(plan: (words: Record<string, string>) => CallPlan): Command['run'] {
  return (cluster, words) => cluster.plugin.plan(words.RPC ?? '', plan(words));
}

function contextOf(cluster: Cluster, volume: string): VolumeContext {
  const committed = cluster.committed(volumeAddress('default', volume));
  if (!committed) throw new Error(`there is no volume ${volume}`);
  // What is stored at this address was made by the machine of volumes.
  return committed.context as VolumeContext;
}

const units: Record<string, number> = { ms: 1, s: 1_000, min: 60_000 };

function millisecondsIn(text = ''): number {
  const [amount, unit = ''] = text.split(' ');
  return Number(amount) * (units[unit] ?? Number.NaN);
}
