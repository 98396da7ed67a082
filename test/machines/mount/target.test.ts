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
const own = { readOnly: false, isClaimed: true, capability };
const other = { readOnly: true, isClaimed: false, capability: readers, hold: 5 };
const moment = { atMs: 900, nextNumber: 7, isLast: false };

/** All that a record may have. */
const record: TargetData = {
  ...{ allocId: 'a', ...own, number: 1, sinceMs: 100, found, appeared, mayStillArrive: true },
  ...{ next: other, tries: earlier, failure },
};

const cases: Case<TargetEvent, TargetData>[] = [
  ['use', { ...moment, type: 'use', use: other }],
  ['leave', { ...moment, type: 'leave' }],
  ['leave, the last', { ...moment, isLast: true, type: 'leave' }],
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
  ['mount-appeared', { ...moment, type: 'mount-appeared', mount: { ...foundNow, bootId: 'b' } }],
  ['turn.given', { ...moment, type: 'turn.given' }],
  ['turn.lost', { ...moment, type: 'turn.lost' }],
  ['turn.lost, the last', { ...moment, isLast: true, type: 'turn.lost' }],
  ['call.waits', { ...moment, type: 'call.waits' }],
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
  ['pending-publish.backing-off', 'use', { ...other, tries: now }],
  ['pending-publish.calling', 'use', { ...other, tries: now }],
  ['pending-publish.backing-off', 'retry', { tries: undefined }],
  ['publish-in-doubt.backing-off', 'runtime.started', { tries: now }],
  ['pending-publish.calling', 'publish.done', { ...nothing, failure: undefined, found: foundNow }],
  ['pending-publish.calling', 'publish.done, dead', { appeared: undefined, tries: undefined, failure: undefined }],
  ['pending-publish.calling', 'publish.refused', { failure, tries: undefined }],
  ['pending-publish.calling', 'publish.unknown', { tries: again }],
  ['pending-publish.calling', 'publish.not-sent', { tries: again }],
  ['pending-publish.calling', 'publish.interrupted', {}],
  ['pending-publish.calling', 'mount-appeared', { appeared: { ...foundNow, bootId: 'b' } }],
  ['pending-publish.calling', 'leave', ending],
  ['publish-in-doubt.due', 'leave', { ...ending, mayStillArrive: true }],
  ['publish-in-doubt.calling', 'publish.refused', { failure, tries: undefined, sinceMs: 900, mayStillArrive: true }],
  ['remounting.calling', 'publish.refused', { failure, tries: undefined, sinceMs: 900 }],
  ['publish-in-doubt.due', 'staging-dead', { ...ending, next: own, mayStillArrive: true }],
  ['published', 'use', other],
  ['published', 'leave', ending],
  ['published', 'seen-missing, repaired at once', begun],
  ['published', 'seen-missing', { found: undefined }],
  ['published', 'seen-dead, repaired at once', { ...ending, next: own }],
  ['published', 'seen-dead', { found: undefined }],
  ['lost', 'use', { ...begun, ...other }],
  ['pending-unpublish.due', 'use', { next: other, hold: 5 }],
  ['pending-unpublish.backing-off', 'leave', { next: undefined, failure: undefined, tries: now }],
  ['pending-unpublish.first-publish', 'publish.done', { ...nothing, failure: undefined, found: foundNow }],
  ['pending-unpublish.publish-under-way', 'publish.unknown', { mayStillArrive: true }],
  ['pending-unpublish.calling', 'unpublish.failed', { tries: again }],
  ['pending-unpublish.calling', 'unpublish.done, the last', { ...nothing, next: undefined, failure: undefined }],
  ['replacing.calling', 'unpublish.done', { ...begun, ...other }],
  ['replacing.first-publish', 'call.waits', { ...begun, ...other }],
  ['undoing.calling', 'unpublish.done', nothing],
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
    const back = targetChart.step({ ...replaced, at: 'replacing.calling' }, { ...moment, type: 'unpublish.done' });
    expect([back.at, back.readOnly, back.isClaimed, back.capability, back.hold]).to.deep.equal([
      ...['pending-publish.due', false, true],
      ...[capability, undefined],
    ]);
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

  it('M2 it calls, or waits to call, exactly where it has the turn', () => {
    for (const place of leaves) {
      const isAtCall = /\.(calling|waiting-for-plugin|first-publish|publish-under-way)$/.test(place);
      expect(targetChart.hasTag(at(place), 'has-turn'), place).to.equal(isAtCall);
    }
  });
});
