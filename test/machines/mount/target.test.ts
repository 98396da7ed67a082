/** The target chart: where each event leads from each state (target-pairs.txt), and what becomes of the data. */
import { expect } from 'chai';
import { isIn } from '../../../machines/kit/parts.js';
import {
  hasNoTarget,
  isToUnpublish,
  isWanted,
  mountUserStateOf,
  needsUnpublish,
  type Target,
  targetChart,
  targetMachine,
} from '../../../machines/mount/target.js';
import type { TargetData, TargetEvent } from '../../../machines/mount/target-setup.js';
import { type Case, holdsAsText, type Step, textOf, typesOf } from '../pairs.js';
import { isLeaf, pathOf, statesOf } from '../states-of.js';
import { again, earlier } from './staging-table.js';

const failure = { code: 'CSI_ERROR', message: 'refused', final: true } as const;
const capability = { accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;
const readers = { accessMode: 'single-node-reader-only', attachmentMode: 'file-system' } as const;
const found = { device: '8:1', root: '/' };
const foundNow = { device: '8:2', root: '/' };
const appeared = { ...found, bootId: 'b' };
const own = { readOnly: false, capability };
const other = { readOnly: true, capability: readers };
/** How it was asked for meanwhile. */
const next = { readOnly: true, capability };
const moment = { atMs: 900, nextNumber: 7, isLast: false, isCallUnderWay: false };
const underWay = { ...moment, isCallUnderWay: true };

/** All that a record may have. */
const record: TargetData = {
  ...{ allocId: 'a', ...own, number: 1, sinceMs: 100, found, appeared, mayStillArrive: true },
  ...{ next, tries: earlier, failure },
};

const cases: Case<TargetEvent, TargetData>[] = [
  ['use', { ...moment, type: 'use', use: other }],
  ['leave', { ...moment, type: 'leave' }],
  ['leave, the last', { ...moment, isLast: true, type: 'leave' }],
  ['leave, publish under way', { ...underWay, isLast: true, type: 'leave' }],
  ['retry', { ...moment, type: 'retry' }],
  ['hasten', { ...moment, type: 'hasten' }],
  ['runtime.started', { ...moment, type: 'runtime.started' }],
  ['stage.refused', { ...moment, type: 'stage.refused', failure }],
  ['let-go', { ...moment, type: 'let-go' }],
  ['seen-missing, repaired at once', { ...moment, type: 'seen-missing', isMended: true }],
  ['seen-missing', { ...moment, type: 'seen-missing', isMended: false }],
  ['seen-dead, repaired at once', { ...moment, type: 'seen-dead', isMended: true }],
  ['seen-dead', { ...moment, type: 'seen-dead', isMended: false }],
  ['staging-dead', { ...moment, type: 'staging-dead' }],
  ['staging-dead-gone', { ...moment, type: 'staging-dead-gone' }],
  ['staging-dead-gone, publish under way', { ...underWay, type: 'staging-dead-gone' }],
  ['mount-appeared', { ...moment, type: 'mount-appeared', mount: { ...foundNow, bootId: 'b' } }],
  ['call.not-made', { ...moment, type: 'call.not-made' }],
  ['call.not-made, the last', { ...moment, isLast: true, type: 'call.not-made' }],
  ['publish.done', { ...moment, type: 'publish.done', found: foundNow, isDead: false }],
  ['publish.done, dead', { ...moment, type: 'publish.done', found: foundNow, isDead: true }],
  ['publish.refused', { ...moment, type: 'publish.refused', failure }],
  ['publish.not-as-asked', { ...moment, type: 'publish.not-as-asked', failure }],
  ['publish.not-sent', { ...moment, type: 'publish.not-sent', tries: again }],
  ['publish.not-sent, the last', { ...moment, isLast: true, type: 'publish.not-sent', tries: again }],
  ['publish.unknown', { ...moment, type: 'publish.unknown', tries: again }],
  ['publish.interrupted', { ...moment, type: 'publish.interrupted' }],
  ['unpublish.done', { ...moment, type: 'unpublish.done' }],
  ['unpublish.done, the last', { ...moment, isLast: true, type: 'unpublish.done' }],
  ['unpublish.failed', { ...moment, type: 'unpublish.failed', tries: again }],
  ['unpublish.interrupted', { ...moment, type: 'unpublish.interrupted' }],
];
const events = new Map(cases.map(([name, event]) => [name, event]));

/** A part is plain data, without what is undefined. */
const known = (data: object): Target => JSON.parse(JSON.stringify(data));
const leaves = statesOf(targetMachine)
  .filter(isLeaf)
  .map((nodes) => pathOf(nodes) as Target['at']);
const at = (place: Target['at'], data: TargetData = record): Target => known({ ...data, at: place });

function step(place: Target['at'], name: string, data?: TargetData): Target {
  const event = events.get(name);
  if (!event) throw new Error(`no event is called '${name}'`);
  return targetChart.step(at(place, data), event);
}

const nothing = { found: undefined, appeared: undefined, mayStillArrive: undefined, tries: undefined };
const begun = { ...nothing, next: undefined, failure: undefined, number: 7, sinceMs: 900 };
const now = { ...earlier, notBeforeMs: 0 };
const ending = { sinceMs: 900, tries: undefined, failure: undefined };

/** What an event makes of all that a record may have; `undefined`: it is gone. */
const table: [from: Target['at'], name: string, changes: Partial<TargetData>][] = [
  ['pending-publish', 'use', { ...other, tries: now }],
  ['pending-publish', 'retry', { tries: undefined }],
  ['publish-in-doubt', 'runtime.started', { tries: now }],
  ['pending-publish', 'publish.done', { ...nothing, failure: undefined, found: foundNow }],
  ['pending-publish', 'publish.done, dead', { appeared: undefined, tries: undefined, failure: undefined }],
  ['pending-publish', 'publish.refused', { failure, tries: undefined }],
  ['pending-publish', 'publish.unknown', { tries: again }],
  ['pending-publish', 'publish.not-sent', { tries: again }],
  ['pending-publish', 'publish.interrupted', {}],
  ['pending-publish', 'mount-appeared', { appeared: { ...foundNow, bootId: 'b' } }],
  ['pending-publish', 'leave, publish under way', ending],
  ['publish-in-doubt', 'leave', { ...ending, mayStillArrive: true }],
  ['publish-in-doubt', 'publish.refused', { failure, tries: undefined, sinceMs: 900, mayStillArrive: true }],
  ['remounting', 'publish.refused', { failure, tries: undefined, sinceMs: 900 }],
  ['publish-in-doubt', 'staging-dead', { ...ending, next: own, mayStillArrive: true }],
  ['published', 'use', other],
  ['published', 'leave', ending],
  ['published', 'seen-missing, repaired at once', begun],
  ['published', 'seen-missing', { found: undefined }],
  ['published', 'seen-dead, repaired at once', { ...ending, next: own }],
  ['published', 'seen-dead', { found: undefined }],
  ['lost', 'use', { ...begun, ...other }],
  ['pending-unpublish', 'use', { next: other }],
  ['pending-unpublish', 'leave', { next: undefined, failure: undefined, tries: now }],
  ['leaving-first-call', 'publish.done', { ...nothing, failure: undefined, found: foundNow }],
  ['pending-unpublish', 'publish.unknown', { mayStillArrive: true }],
  ['pending-unpublish', 'unpublish.failed', { tries: again }],
  ['pending-unpublish', 'unpublish.done, the last', { ...nothing, next: undefined, failure: undefined }],
  ['replacing', 'unpublish.done', { ...begun, ...next, next: undefined }],
  ['replacing-first-call', 'call.not-made', { ...begun, ...next, next: undefined }],
  ['undoing', 'unpublish.done', nothing],
  ['waiting-for-unstage', 'use', { ...begun, ...other }],
  ['failed', 'use', { ...begun, ...other }],
];

describe('the target chart', () => {
  it('M2 M7 each event leads where the text says, and every other one is refused', () => {
    const stepOf: Step<TargetEvent, TargetData> = (part, event) => targetChart.step(part as never, event);
    const whole = cases.map(([name, event]): (typeof cases)[number] => [name, event, known(record)]);
    holdsAsText(new URL('target-pairs.txt', import.meta.url), textOf(targetMachine, stepOf, whole));
    expect(cases.map(([, { type }]) => type)).to.include.members(typesOf(targetMachine));
  });

  for (const [from, name, changes] of table)
    it(`M2 M7 ${from}, ${name}: only the data that it is about changes`, () => {
      const after = step(from, name);
      expect(after).to.deep.equal(known({ ...record, ...changes, at: after.at }));
    });

  it('M2 M7 a target unmounted to be mounted again and asked to leave meanwhile comes back as it was', () => {
    const { next: _, ...alone } = record;
    const replaced = step('published', 'seen-dead, repaired at once', alone);
    const back = targetChart.step(replaced, { ...moment, type: 'unpublish.done' });
    expect([back.at, back.readOnly, back.capability]).to.deep.equal(['pending-publish', false, capability]);
  });

  it('M2 each state is wanted, mounted, lost, to be unmounted, or has no target', () => {
    for (const place of leaves) {
      const part = at(place);
      const kinds = [
        isWanted(part),
        isIn(part, 'published'),
        isIn(part, 'lost'),
        isToUnpublish(part),
        hasNoTarget(part),
      ];
      expect(kinds.filter(Boolean), place).to.have.length(1);
      expect(needsUnpublish(part) && hasNoTarget(part), place).to.equal(false);
      if (place === 'released') expect(() => mountUserStateOf(part)).to.throw('has no state to show');
      else expect(mountUserStateOf(part), place).to.be.a('string');
    }
  });

  it('M2 each phase takes the outcomes of the calls that can be under way in it, and of no others', () => {
    // A publish that was begun before the alloc left, or its staging died.
    const publishedBefore: readonly Target['at'][] = [
      ...(['leaving-first-call', 'pending-unpublish', 'replacing-first-call', 'replacing'] as const),
    ];
    for (const place of leaves) {
      const { call } = targetChart.metaOf(at(place));
      const kinds = [...(call ? [call] : []), ...(publishedBefore.includes(place) ? ['publish'] : [])];
      for (const type of typesOf(targetMachine)) {
        const [, kind] = /^(publish|unpublish)\./.exec(type) ?? [];
        if (kind) expect(targetChart.takes(at(place), type), `${place}: ${type}`).to.equal(kinds.includes(kind));
      }
    }
  });
});
