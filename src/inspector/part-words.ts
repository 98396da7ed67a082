/** Steps of the parts of volumes, mounts and allocs in words: the page, the command line and the API say the same. */
import { saidOf } from '../../machines/catalog.js';
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
  'removing-unproven.due': 'may lack its content, waits to be removed',
  'removing-unproven.calling': 'may lack its content, being removed',
  'removing-unproven.waiting-for-plugin': 'may lack its content, to be removed, waits for the plugin',
  'removing-unproven.backing-off': 'may lack its content, not removed yet',
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
  'failed.unproven': 'created three times, never with proof of its content, and removed',
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

const stepWords: Record<string, Record<string, string>> = {
  publication: publicationWords,
  lifecycle: lifecycleWords,
  expansion: changeWords,
  modification: changeWords,
};

/** Words for a step, by chart and state; empty where the state of the actor says enough. */
export const wordsOf = (chart: string, at: string): string => saidOf(chart, at)?.why ?? stepWords[chart]?.[at] ?? at;
