/** Requests during a call. Under way, the call may take effect: its outcome counts. While it waits, nothing was sent. */
import type { VolumeContext } from '../../../machines/volume/types.js';
import { lost } from './publication-table.js';
import {
  awaiting,
  backingOff,
  calling,
  contextOf,
  ended,
  failedOnce,
  play,
  type Situation,
  soonMs,
} from './situations.js';

const expand = { type: 'volume.expand', capacity: { requiredBytes: '3' } } as const;
const modify = { type: 'volume.modify', mutableParameters: { cache: 'on' } } as const;
const discard = { type: 'volume.delete', force: false } as const;

const expanding = { expansion: { at: 'pending', wish: { requiredBytes: '2' } }, work: calling('expand') } as const;
const larger = { at: 'pending', wish: expand.capacity } as const;
const modifying = { modification: { at: 'pending', wish: { speed: 'high' } }, work: calling('modify') } as const;
const both = { speed: 'high', cache: 'on' };

const changes: Situation[] = [
  {
    name: 'V12 a larger size is asked for while the expansion is under way: it comes next',
    record: expanding,
    event: expand,
    calls: [],
    publications: {},
    changes: {
      expansion: {
        ...expanding.expansion,
        at: 'overtaken',
        next: { wish: expand.capacity, ifFailed: expand.capacity },
      },
    },
  },
  {
    name: 'V12 a larger size is asked for while the expansion waits: it takes the place of the earlier one',
    record: { ...expanding, awaiting },
    event: expand,
    calls: [],
    publications: {},
    changes: { expansion: larger },
  },
  {
    name: 'V10 V12 the wait of that expansion fails: tried again after a pause',
    record: { expansion: larger, work: calling('expand'), awaiting },
    event: ended('admission', lost, { status: 'not-sent' }),
    calls: [],
    publications: {},
    changes: { expansion: { ...larger, ...failedOnce(soonMs) }, work: backingOff('expand', soonMs), awaiting: null },
  },
  {
    name: 'V12 another parameter is asked for while the modification is under way: it comes next',
    record: modifying,
    event: modify,
    calls: [],
    publications: {},
    changes: {
      modification: { ...modifying.modification, at: 'overtaken', next: { wish: { cache: 'on' }, ifFailed: both } },
    },
  },
  {
    name: 'V12 another parameter is asked for while the modification waits: one call for both',
    record: { ...modifying, awaiting },
    event: modify,
    calls: [],
    publications: {},
    changes: { modification: { at: 'pending', wish: both } },
  },
];

const creating = { csi: null, origin: null, lifecycle: { at: 'pending-create' }, work: calling('create') } as const;
const over = { lifecycle: { at: 'absent' }, work: null, awaiting: null } as const;
const { spec } = contextOf({});
const external = spec && { ...spec, external: { csiId: 'vol-1', context: {} } };
const made = { id: 'vol-2', context: {}, accessibleTopology: [] };
const removing: Partial<VolumeContext> = {
  ...{ csi: null, work: calling('remove') },
  lifecycle: { at: 'removing-unproven', madeOtherwise: made, unproven: 1 },
};

const deletions: Situation[] = [
  {
    name: 'V13 deleted while its first creation is under way: the outcome is waited for',
    record: creating,
    event: discard,
    calls: [],
    publications: {},
    changes: { lifecycle: { at: 'finding-out-first-call' } },
  },
  {
    name: 'V13 deleted while its first creation waits: gone at once',
    record: { ...creating, awaiting },
    event: discard,
    calls: [],
    publications: {},
    changes: over,
  },
  {
    name: 'V13 deleted, then its first creation turns out not to be sent: gone',
    record: { ...creating, lifecycle: { at: 'finding-out-first-call' } },
    event: ended('createVolume', lost, { status: 'not-sent' }),
    calls: [],
    publications: {},
    changes: over,
  },
  {
    name: 'V13 external volume deleted while it is being looked up: forgotten once that has ended',
    record: { ...creating, spec: external },
    event: discard,
    calls: [],
    publications: {},
    changes: { lifecycle: { at: 'letting-go' } },
  },
  {
    name: 'V13 external volume deleted while its look-up waits: forgotten at once',
    record: { ...creating, spec: external, awaiting },
    event: discard,
    calls: [],
    publications: {},
    changes: over,
  },
  {
    name: 'V13 deleted while an unproven copy is being removed: that call deletes it',
    record: removing,
    event: discard,
    calls: [],
    publications: {},
    changes: { csi: made, lifecycle: { at: 'pending-delete' } },
  },
  {
    name: 'V13 deleted while the removal of an unproven copy waits: deleted by a call of its own',
    record: { ...removing, awaiting },
    event: discard,
    calls: ['deleteVolume'],
    publications: {},
    changes: { csi: made, lifecycle: { at: 'pending-delete' }, work: calling('delete'), awaiting: null },
  },
];

describe('requests during a call, step by step', () => {
  for (const [name, situations] of Object.entries({ changes, deletions }))
    describe(name, () => {
      for (const situation of situations) it(situation.name, () => play(situation));
    });
});
