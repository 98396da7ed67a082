/** Describes the parts of volumes and mounts for a person: the step of each, its next attempt, and why. */
import type { PartView } from '../../machines/kit/parts.js';
import type { Staging } from '../../machines/mount/staging.js';
import type { Target } from '../../machines/mount/target.js';
import { publicationId } from '../../machines/volume/parts.js';
import type { Expansion, Lifecycle, Modification, Publication } from '../../machines/volume/types.js';

/** Step of a publication in words; empty where the public state says enough. */
const publicationWords: Record<Publication['at'], string> = {
  new: '',
  'pending-publish.due': 'waits for its turn',
  'pending-publish.calling': 'being published',
  'pending-publish.waiting-for-plugin': 'waits for the plugin',
  'pending-publish.backing-off': 'publish not sent',
  'in-doubt.due': 'publish in doubt, waits for its turn',
  'in-doubt.calling': 'publish in doubt, being repeated',
  'in-doubt.waiting-for-plugin': 'publish in doubt, waits for the plugin',
  'in-doubt.backing-off': 'publish in doubt',
  'republishing.due': 'lost by the plugin, waits for its turn to be published again',
  'republishing.calling': 'lost by the plugin, being published again',
  'republishing.waiting-for-plugin': 'lost by the plugin, waits for it to be published again',
  'republishing.backing-off': 'lost by the plugin, could not be published again',
  'cancelling.first-call': 'publish cancelled, its call is under way',
  'cancelling.due': 'publish cancelled in doubt, waits for its turn',
  'cancelling.calling': 'publish cancelled in doubt, being repeated to learn its outcome',
  'cancelling.waiting-for-plugin': 'publish cancelled in doubt, waits for the plugin',
  'cancelling.backing-off': 'publish cancelled in doubt',
  published: '',
  'pending-node-unpublish.waiting-for-node': 'waits for the node to unstage it',
  'pending-node-unpublish.publish-under-way': 'waits for the node to unstage it, a publish is under way',
  'pending-unpublish.publish-under-way': 'waits for a publish that is under way',
  'pending-unpublish.waiting-for-node': 'the node has time to unmount it',
  'pending-unpublish.due': 'waits for its turn',
  'pending-unpublish.calling': 'being unpublished',
  'pending-unpublish.waiting-for-plugin': 'waits for the plugin',
  'pending-unpublish.backing-off': 'not unpublished yet',
  'failed.refused': 'publish refused',
  'failed.in-doubt': 'publish refused, but an earlier attempt may have attached it',
  'failed.was-published': 'publish again refused, and the node may have it staged',
  'failed.unpublish': 'unpublish refused, and it may be attached',
  removed: '',
};

/** Step of a volume's creation or deletion in words; empty where the public state says enough. */
const lifecycleWords: Record<Lifecycle['at'], string> = {
  absent: '',
  'pending-create.due': 'waits for its turn',
  'pending-create.calling': 'being created',
  'pending-create.waiting-for-plugin': 'waits for the plugin',
  'pending-create.backing-off': 'create not sent',
  'create-in-doubt.due': 'create in doubt, waits for its turn',
  'create-in-doubt.calling': 'create in doubt, being repeated',
  'create-in-doubt.waiting-for-plugin': 'create in doubt, waits for the plugin',
  'create-in-doubt.backing-off': 'create in doubt',
  created: '',
  'finding-out.first-call': 'create given up, its call is under way',
  'finding-out.due': 'create in doubt and given up, waits for its turn',
  'finding-out.calling': 'create in doubt and given up, being repeated to learn its id',
  'finding-out.waiting-for-plugin': 'create in doubt and given up, waits for the plugin',
  'finding-out.backing-off': 'create in doubt and given up',
  'emptying.waiting-for-publications': 'deleted once no node has it',
  'emptying.create-under-way': 'deleted once the create that is under way has ended',
  'letting-go.waiting-for-publications': 'forgotten once no node has it',
  'letting-go.create-under-way': 'forgotten once the call that is under way has ended',
  'pending-delete.due': 'waits for its turn',
  'pending-delete.calling': 'being deleted',
  'pending-delete.waiting-for-plugin': 'waits for the plugin',
  'pending-delete.backing-off': 'not deleted yet',
  'failed.refused': 'create refused',
  'failed.in-doubt': 'create refused, but an earlier attempt may have created it',
  'failed.not-as-asked': 'created, but not as requested',
  'failed.finding-out': 'create given up, and its id is not known',
  'failed.delete': 'delete refused',
};

/** Step of an expansion or a modification in words. */
const changeWords: Record<Expansion['at'] | Modification['at'], string> = {
  'pending.due': 'waits for its turn',
  'pending.calling': 'under way',
  'pending.waiting-for-plugin': 'waits for the plugin',
  'pending.backing-off': 'not done yet',
  overtaken: 'under way, a newer request comes next',
  failed: 'refused',
  done: '',
};

/** Step of a staging path in words. */
const stagingWords: Record<Staging['at'], string> = {
  'not-staged': 'not staged',
  'pending-stage.due': 'waits for its turn to be staged',
  'pending-stage.calling': 'being staged',
  'pending-stage.waiting-for-plugin': 'to be staged, waits for the plugin',
  'pending-stage.backing-off': 'stage not done',
  staged: '',
  'not-needed': '',
  'in-doubt.waiting-for-users': 'stage in doubt, no alloc needs it now',
  'in-doubt.due': 'stage in doubt, waits for its turn',
  'in-doubt.calling': 'stage in doubt, being repeated',
  'in-doubt.waiting-for-plugin': 'stage in doubt, waits for the plugin',
  'in-doubt.backing-off': 'stage in doubt',
  'missing.waiting-for-request': 'not there any more, staged again on request',
  'missing.due': 'not there any more, waits for its turn to be staged again',
  'missing.calling': 'not there any more, being staged again',
  'missing.waiting-for-plugin': 'not there any more, waits for the plugin',
  'missing.backing-off': 'not there any more, could not be staged again',
  'found-dead.waiting-for-targets': 'its file system does not answer, recovered on request',
  'found-dead.stage-under-way': 'its file system does not answer, a stage is under way',
  'dead.waiting-for-targets': 'its file system does not answer, its targets are unmounted first',
  'dead.stage-under-way': 'its file system does not answer, a stage is under way',
  'clearing-dead.due': 'its file system does not answer, waits for its turn to be unstaged',
  'clearing-dead.calling': 'its file system does not answer, being unstaged',
  'clearing-dead.waiting-for-plugin': 'its file system does not answer, waits for the plugin',
  'clearing-dead.backing-off': 'its file system does not answer, not unstaged yet',
  'pending-unstage.due': 'waits for its turn to be unstaged',
  'pending-unstage.calling': 'being unstaged',
  'pending-unstage.waiting-for-plugin': 'to be unstaged, waits for the plugin',
  'pending-unstage.backing-off': 'not unstaged yet',
  'unstage-in-doubt.due': 'unstage in doubt, waits for its turn',
  'unstage-in-doubt.calling': 'unstage in doubt, being repeated',
  'unstage-in-doubt.waiting-for-plugin': 'unstage in doubt, waits for the plugin',
  'unstage-in-doubt.backing-off': 'unstage in doubt',
};

/** Step of an alloc's target path in words. */
const targetWords: Record<Target['at'], string> = {
  'pending-publish.due': 'waits for its turn to be mounted',
  'pending-publish.calling': 'being mounted',
  'pending-publish.waiting-for-plugin': 'to be mounted, waits for the plugin',
  'pending-publish.backing-off': 'mount not done',
  'publish-in-doubt.due': 'mount in doubt, waits for its turn',
  'publish-in-doubt.calling': 'mount in doubt, being repeated',
  'publish-in-doubt.waiting-for-plugin': 'mount in doubt, waits for the plugin',
  'publish-in-doubt.backing-off': 'mount in doubt',
  'remounting.due': 'not there any more, waits for its turn to be mounted again',
  'remounting.calling': 'not there any more, being mounted again',
  'remounting.waiting-for-plugin': 'not there any more, waits for the plugin',
  'remounting.backing-off': 'not there any more, could not be mounted again',
  published: '',
  lost: 'not there any more, mounted again on request',
  'pending-unpublish.first-publish': 'given up, its first mount is under way',
  'pending-unpublish.publish-under-way': 'to be unmounted, a mount is under way',
  'pending-unpublish.due': 'waits for its turn to be unmounted',
  'pending-unpublish.calling': 'being unmounted',
  'pending-unpublish.waiting-for-plugin': 'to be unmounted, waits for the plugin',
  'pending-unpublish.backing-off': 'not unmounted yet',
  'replacing.first-publish': 'to be mounted again, its first mount is under way',
  'replacing.publish-under-way': 'to be mounted again, a mount is under way',
  'replacing.due': 'waits for its turn to be unmounted, then mounted again',
  'replacing.calling': 'being unmounted, then mounted again',
  'replacing.waiting-for-plugin': 'to be unmounted, then mounted again, waits for the plugin',
  'replacing.backing-off': 'not unmounted yet, then mounted again',
  'undoing.due': 'mount failed, waits for its turn to be undone',
  'undoing.calling': 'mount failed, being undone',
  'undoing.waiting-for-plugin': 'mount failed, to be undone, waits for the plugin',
  'undoing.backing-off': 'mount failed, not undone yet',
  'waiting-for-unstage': 'unmounted, released once the volume is unstaged',
  failed: 'mount refused',
  released: '',
};

const wordsOf: Record<string, Record<string, string>> = {
  publication: publicationWords,
  lifecycle: lifecycleWords,
  expansion: changeWords,
  modification: changeWords,
  staging: stagingWords,
  target: targetWords,
};

/** Describes a volume's publication on a node; empty where the public state says enough. */
export function describePublication(parts: PartView[], nodeId: string, nowMs: number): string {
  const part = parts.find(({ id }) => id === publicationId(nodeId));
  return part ? describe(part, nowMs) : '';
}

/** Describes a part that a volume has at most once; empty without it, or where the public state says enough. */
export function describeWork(parts: PartView[], id: 'lifecycle' | 'expansion' | 'modification', nowMs: number): string {
  const part = parts.find((one) => one.id === id);
  return part ? describe(part, nowMs) : '';
}

/** Describes the staging path and the targets of a mount, each with its name; leaves out those at rest. */
export const describeMountParts = (parts: PartView[], nowMs: number): string[] =>
  parts.flatMap((part) => {
    const words = describe(part, nowMs);
    return words === '' ? [] : [`${part.chart}: ${words}`];
  });

function describe({ chart, at, why, nextAttemptAtMs }: PartView, nowMs: number): string {
  const step = [wordsOf[chart]?.[at] ?? at, ...nextAttempt(nextAttemptAtMs, nowMs)].filter(Boolean).join(', ');
  return [step, why].filter(Boolean).join(': ');
}

function nextAttempt(atMs: number | undefined, nowMs: number): string[] {
  if (atMs === undefined) return [];
  const seconds = Math.ceil((atMs - nowMs) / 1_000);
  return [seconds > 0 ? `next attempt in ${seconds} s` : 'next attempt now'];
}
