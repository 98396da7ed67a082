/** The steps of one volume of an alloc: what each event makes of each of them, and which it can't meet. */
import { expect } from 'chai';
import { type StepEvent, stepOf, type VolumePart, volumeSteps } from '../../../machines/alloc/volume-steps.js';

const mount = {
  ...{ name: 'data', volume: { namespace: 'default', id: 'data' }, hostPath: '/h', taskPath: '/d' },
  ...{ readOnly: false, isDevice: false },
};
const failure = { code: 'CSI_ERROR' as const, message: 'no', final: true };
const reason = 'alloc db has it';

const events = {
  taken: { type: 'claim.taken', generation: 7 },
  refused: { type: 'claim.refused', reason },
  confirmed: { type: 'claim.confirmed' },
  published: { type: 'volume.published' },
  mounted: { type: 'volume.mounted', mount },
  waits: { type: 'volume.waits', reason },
  'gets on': { type: 'volume.waits', reason: null },
  unmounted: { type: 'volume.unmounted' },
  'claim released': { type: 'claim.released' },
  freed: { type: 'slot.freed' },
  restart: { type: 'restart' },
  reboot: { type: 'reboot' },
  leave: { type: 'leave' },
  'leave as it failed': { type: 'leave', failure },
} as const satisfies Record<string, StepEvent>;

type EventName = keyof typeof events;

/** One of each, as it comes to be. */
const parts = {
  claiming: { at: 'preparing.claiming' },
  'claiming, waits': { at: 'preparing.claiming', reason },
  'waiting-for-claim': { at: 'preparing.waiting-for-claim', reason },
  publishing: { at: 'preparing.publishing', generation: 7 },
  'publishing, waits': { at: 'preparing.publishing', generation: 7, reason },
  mounting: { at: 'preparing.mounting', generation: 7 },
  mounted: { at: 'mounted', generation: 7, mount },
  'confirming-claim': { at: 'confirming-claim', generation: 7, mount },
  'lost-at-reboot': { at: 'lost-at-reboot', generation: 7, mount },
  'lost-at-reboot, unclaimed': { at: 'lost-at-reboot' },
  unmounting: { at: 'releasing.unmounting', generation: 7 },
  'unmounting, failed': { at: 'releasing.unmounting', failure },
  'releasing-claim': { at: 'releasing.releasing-claim', generation: 7 },
  'releasing-claim, failed': { at: 'releasing.releasing-claim', failure },
  reporting: { at: 'releasing.reporting', generation: 7 },
  'reporting, failed': { at: 'releasing.reporting', generation: 7, failure },
  released: { at: 'released', generation: 7 },
  failed: { at: 'failed', generation: 7, failure },
} as const satisfies Record<string, VolumePart>;

type PartName = keyof typeof parts;

/** Of each what is legal, and what becomes of it. */
const table: Record<PartName, Partial<Record<EventName, VolumePart>>> = {
  claiming: {
    taken: parts.publishing,
    refused: parts['waiting-for-claim'],
    waits: parts['claiming, waits'],
    'gets on': parts.claiming,
    restart: parts.claiming,
    reboot: parts['lost-at-reboot, unclaimed'],
    leave: { at: 'releasing.unmounting' },
    'leave as it failed': parts['unmounting, failed'],
  },
  'claiming, waits': {
    taken: parts.publishing,
    refused: parts['waiting-for-claim'],
    waits: parts['claiming, waits'],
    'gets on': parts.claiming,
    restart: parts.claiming,
    reboot: parts['lost-at-reboot, unclaimed'],
    leave: { at: 'releasing.unmounting' },
    'leave as it failed': parts['unmounting, failed'],
  },
  'waiting-for-claim': {
    taken: parts.publishing,
    refused: parts['waiting-for-claim'],
    waits: parts['claiming, waits'],
    'gets on': parts.claiming,
    restart: parts.claiming,
    reboot: parts['lost-at-reboot, unclaimed'],
    leave: { at: 'releasing.unmounting' },
    'leave as it failed': parts['unmounting, failed'],
  },
  publishing: {
    published: parts.mounting,
    waits: parts['publishing, waits'],
    'gets on': parts.publishing,
    restart: { at: 'confirming-claim', generation: 7 },
    reboot: { at: 'lost-at-reboot', generation: 7 },
    leave: parts.unmounting,
    'leave as it failed': { ...parts.unmounting, failure },
  },
  'publishing, waits': {
    published: parts.mounting,
    waits: parts['publishing, waits'],
    'gets on': parts.publishing,
    restart: { at: 'confirming-claim', generation: 7 },
    reboot: { at: 'lost-at-reboot', generation: 7 },
    leave: parts.unmounting,
    'leave as it failed': { ...parts.unmounting, failure },
  },
  mounting: {
    mounted: parts.mounted,
    waits: { ...parts.mounting, reason },
    'gets on': parts.mounting,
    restart: { at: 'confirming-claim', generation: 7 },
    reboot: { at: 'lost-at-reboot', generation: 7 },
    leave: parts.unmounting,
    'leave as it failed': { ...parts.unmounting, failure },
  },
  mounted: {
    waits: { ...parts.mounted, reason },
    'gets on': parts.mounted,
    restart: parts['confirming-claim'],
    reboot: parts['lost-at-reboot'],
    leave: parts.unmounting,
    'leave as it failed': { ...parts.unmounting, failure },
  },
  'confirming-claim': {
    taken: { at: 'preparing.publishing', generation: 7, mount },
    confirmed: { at: 'preparing.publishing', generation: 7, mount },
    mounted: parts.mounted,
    waits: { ...parts['confirming-claim'], reason },
    'gets on': parts['confirming-claim'],
    restart: parts['confirming-claim'],
    reboot: parts['lost-at-reboot'],
    leave: parts.unmounting,
    'leave as it failed': { ...parts.unmounting, failure },
  },
  'lost-at-reboot': {
    waits: { ...parts['lost-at-reboot'], reason },
    'gets on': parts['lost-at-reboot'],
    restart: parts['confirming-claim'],
    reboot: parts['lost-at-reboot'],
    leave: parts.unmounting,
    'leave as it failed': { ...parts.unmounting, failure },
  },
  'lost-at-reboot, unclaimed': {
    waits: { at: 'lost-at-reboot', reason },
    'gets on': parts['lost-at-reboot, unclaimed'],
    restart: parts.claiming,
    reboot: parts['lost-at-reboot, unclaimed'],
    leave: { at: 'releasing.unmounting' },
    'leave as it failed': parts['unmounting, failed'],
  },
  unmounting: {
    unmounted: parts['releasing-claim'],
    waits: { ...parts.unmounting, reason },
    'gets on': parts.unmounting,
    restart: parts.unmounting,
  },
  'unmounting, failed': {
    unmounted: parts['releasing-claim, failed'],
    waits: { ...parts['unmounting, failed'], reason },
    'gets on': parts['unmounting, failed'],
    restart: parts['unmounting, failed'],
  },
  'releasing-claim': {
    'claim released': parts.reporting,
    freed: parts.released,
    waits: { ...parts['releasing-claim'], reason },
    'gets on': parts['releasing-claim'],
    restart: parts.unmounting,
  },
  'releasing-claim, failed': {
    'claim released': { at: 'releasing.reporting', failure },
    freed: { at: 'failed', failure },
    waits: { ...parts['releasing-claim, failed'], reason },
    'gets on': parts['releasing-claim, failed'],
    restart: parts['unmounting, failed'],
  },
  reporting: {
    freed: parts.released,
    waits: { ...parts.reporting, reason },
    'gets on': parts.reporting,
    restart: parts.unmounting,
  },
  'reporting, failed': {
    freed: parts.failed,
    waits: { ...parts['reporting, failed'], reason },
    'gets on': parts['reporting, failed'],
    restart: { ...parts.unmounting, failure },
  },
  released: { waits: parts.released, 'gets on': parts.released, restart: parts.unmounting },
  failed: { waits: parts.failed, 'gets on': parts.failed, restart: { ...parts.unmounting, failure } },
};

/** Which steps lead where. */
const ways: Record<string, string[]> = {
  claiming: ['waiting-for-claim', 'publishing', 'lost-at-reboot', 'unmounting'],
  'waiting-for-claim': ['claiming', 'publishing', 'lost-at-reboot', 'unmounting'],
  publishing: ['mounting', 'confirming-claim', 'lost-at-reboot', 'unmounting'],
  mounting: ['mounted', 'confirming-claim', 'lost-at-reboot', 'unmounting'],
  mounted: ['confirming-claim', 'lost-at-reboot', 'unmounting'],
  'confirming-claim': ['publishing', 'mounted', 'lost-at-reboot', 'unmounting'],
  'lost-at-reboot': ['claiming', 'confirming-claim', 'unmounting'],
  unmounting: ['releasing-claim'],
  'releasing-claim': ['unmounting', 'reporting', 'released', 'failed'],
  reporting: ['unmounting', 'released', 'failed'],
  released: ['unmounting'],
  failed: ['unmounting'],
};

const partNames = Object.keys(parts) as PartName[];
const eventNames = Object.keys(events) as EventName[];

describe('the steps of a volume of an alloc', () => {
  it('H1 it begins with its claim', () => {
    expect(volumeSteps.begin({})).to.deep.equal(parts.claiming);
  });

  for (const name of partNames)
    it(`H1 H2 ${name}: what each event makes of it, and which ones it refuses`, () => {
      for (const event of eventNames) {
        const expected = table[name][event];
        const step = (): VolumePart => volumeSteps.step(parts[name], events[event]);
        if (expected) expect(step(), event).to.deep.equal(expected);
        else expect(step, event).to.throw(`does not expect '${events[event].type}' while it is ${parts[name].at}`);
      }
    });

  it('H1 H2 each step leads to those that it is said to lead to, and to no other', () => {
    const found: Record<string, Set<string>> = {};
    for (const name of partNames)
      for (const next of Object.values(table[name])) {
        const from = stepOf(parts[name]);
        found[from] ??= new Set();
        if (stepOf(next) !== from) found[from].add(stepOf(next));
      }
    const sorted = (all: Iterable<string>): string[] => [...all].sort();
    expect(Object.fromEntries(Object.entries(found).map(([from, to]) => [from, sorted(to)]))).to.deep.equal(
      Object.fromEntries(Object.entries(ways).map(([from, to]) => [from, sorted(to)])),
    );
  });
});
