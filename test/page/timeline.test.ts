import { expect } from 'chai';
import type { EffectInFlight } from '../../src/api/actor-routes.js';
import type { HistoryLine } from '../../src/journal/history.js';
import { markAt, markCount, marksOf } from '../../src/page/timeline/marks.js';
import { callsIn, type Lane, timelineOf } from '../../src/page/timeline/model.js';
import { relatedTo } from '../../src/page/timeline/related.js';
import { axisTimes, foldsOf, moved, scaleOf, zoomed } from '../../src/page/timeline/scale.js';

const address = 'volume/default/data';
const id = 'publication/worker-1';
const plain = { parts: [], tone: 'plain' as const };
const asked: HistoryLine = {
  ...{ ...plain, seq: 1, at: 1000, what: 'asked to publish it', from: 'caller', after: 'pending-publish.calling' },
  parts: [{ id, after: 'pending-publish.calling' }],
};
const failed: HistoryLine = {
  ...{ seq: 2, at: 1600, what: 'ControllerPublishVolume: INTERNAL', from: 'disk', rpc: 'ControllerPublishVolume' },
  ...{ code: 'INTERNAL', tookMs: 500, attempt: 1, nextAttemptAtMs: 2300, tone: 'in-doubt', message: 'busy' },
  ...{ before: 'pending-publish.calling', after: 'pending-publish.backing-off' },
  parts: [{ id, before: 'pending-publish.calling', after: 'in-doubt.backing-off' }],
};
const again: HistoryLine = {
  ...{ ...plain, seq: 3, at: 2300, what: 'pause is over', from: 'timer', after: 'pending-publish.calling' },
  parts: [{ id, before: 'in-doubt.backing-off', after: 'in-doubt.calling' }],
};
const open: EffectInFlight = {
  ...{ id: 'controllerPublish', src: 'controllerPublish', seq: 3, input: { plugin: 'disk' } },
  ...{ rpc: 'ControllerPublishVolume', sentAtMs: 2310 },
};

const model = () =>
  timelineOf([{ address, name: 'data', machine: 'volume', lines: [asked, failed, again], effects: [open] }], 3000);
const lane = (name: string): Lane => {
  const found = model().lanes.find((one) => one.name === name);
  if (!found) throw new Error(`no lane ${name}`);
  return found;
};

describe('timeline of an actor', () => {
  it('X2 the lanes are callers, the actor, its parts, the plugins that it calls, and the store', () => {
    expect(model().lanes.map(({ name }) => name)).to.deep.equal(['Asked', 'data', 'worker-1', 'disk', 'Store']);
  });

  it('X2 a state lasts until the next one, the last one until now', () => {
    const bars = lane('data');
    expect(bars.kind === 'states' && bars.bars.map(({ from, to, text }) => [from, to, text])).to.deep.equal([
      [1000, 1600, 'pending-publish.calling'],
      [1600, 2300, 'pending-publish.backing-off'],
      [2300, 3000, 'pending-publish.calling'],
    ]);
    const part = lane('worker-1');
    expect(part.kind === 'states' && part.bars.map(({ health }) => health)).to.deep.equal([
      'working',
      'in-doubt',
      'in-doubt',
    ]);
  });

  it('X2 a call lasts from its request to its answer; one without an answer is open until now', () => {
    expect(callsIn(model())).to.deep.equal([
      {
        ...{
          address,
          plugin: 'disk',
          text: 'ControllerPublishVolume',
          from: 1100,
          to: 1600,
          seq: 2,
          health: 'in-doubt',
        },
        ...{ code: 'INTERNAL', attempt: 1, message: 'busy' },
      },
      {
        address,
        plugin: 'disk',
        text: 'ControllerPublishVolume',
        from: 2310,
        to: 3000,
        seq: 3,
        health: 'working',
        isOpen: true,
      },
    ]);
    const calls = lane('disk');
    expect(calls.kind === 'calls' && calls.pauses).to.deep.equal([{ from: 1600, to: 2300 }]);
  });

  it('X2 a part that has gone has no bar from then on', () => {
    const gone = { ...again, parts: [{ id, before: 'in-doubt.backing-off' }] };
    const { lanes } = timelineOf(
      [{ address, name: 'data', machine: 'volume', lines: [asked, failed, gone], effects: [] }],
      3000,
    );
    const part = lanes.find(({ name }) => name === 'worker-1');
    expect(part?.kind === 'states' && part.bars.at(-1)?.to).to.equal(2300);
  });
});

describe('timeline of several actors', () => {
  const mount = 'mount/worker-1/default/data';
  const staged: HistoryLine = {
    ...plain,
    seq: 1,
    at: 2000,
    what: 'asked to stage it',
    from: address,
    after: 'staging',
  };
  const both = timelineOf(
    [
      { address, name: 'data', machine: 'volume', lines: [asked, failed, again], effects: [open] },
      { address: mount, name: 'data on worker-1', machine: 'mount', lines: [staged], effects: [] },
    ],
    3000,
  );

  it('X2 each has its lanes, and the steps of all are in one order', () => {
    expect(both.lanes.map((one) => [one.address, one.name])).to.deep.equal([
      ...['Asked', 'data', 'worker-1', 'disk'].map((name) => [address, name]),
      ...['Asked', 'data on worker-1'].map((name) => [mount, name]),
      ['', 'Store'],
    ]);
    expect(both.steps.map((step) => [step.address, step.seq])).to.deep.equal([
      [address, 1],
      [address, 2],
      [mount, 1],
      [address, 3],
    ]);
  });

  it('X2 those of the same volume can be shown beside it, and no others', () => {
    const known = [
      address,
      mount,
      'volume/default/wal',
      'node/worker-1',
      'mount/worker-1/default/wal',
      'alloc/default/data',
    ];
    expect(relatedTo(address, { key: { namespace: 'default', id: 'data' } }, known)).to.deep.equal([mount]);
    const volumes = [{ volume: { namespace: 'default', id: 'wal' } }, { volume: { namespace: 'default', id: 'data' } }];
    expect(relatedTo('alloc/worker-1/web', { volumes }, known)).to.deep.equal([
      mount,
      'mount/worker-1/default/wal',
      address,
      'volume/default/wal',
    ]);
    expect(relatedTo(address, undefined, known)).to.deep.equal([]);
  });

  it('X2 many marks are rectangles: each is where its time is, and is found there', () => {
    const x = (at: number): number => at / 10;
    const marks = marksOf(both.lanes, x, 1_000);
    expect(marks).to.have.length(both.lanes.reduce((sum, one) => sum + markCount(one), 0));
    const call = marks.find(({ text, kind }) => kind === 'calls' && text === 'ControllerPublishVolume');
    expect(call).to.include({ left: 110, width: 49, health: 'in-doubt' });
    for (const mark of marks) {
      const found = markAt(marks, mark.left + mark.width / 2, mark.top + mark.height / 2);
      expect(found?.kind).to.equal(mark.kind);
      expect([found?.left, found?.top]).to.deep.equal([mark.left, mark.top]);
    }
    expect(markAt(marks, 900, 5)).to.equal(undefined);
    expect(marksOf(both.lanes, x, 100).every(({ left }) => left <= 100)).to.equal(true);
  });
});

describe('places on the timeline', () => {
  const moments = [0, 500, 900, 60_900, 61_500];
  const range = { from: 0, to: 61_500 };

  it('X2 a long stretch in which nothing happens is folded to a fixed width', () => {
    const folds = foldsOf(moments);
    expect(folds).to.deep.equal([[1100, 60_700]]);
    const x = scaleOf(range, 1000, folds);
    expect(Math.round(x(60_700) - x(1100))).to.equal(34);
    expect(x(900)).to.be.above(300);
  });

  it('X2 a call is never folded, however long it lasts', () => {
    expect(foldsOf(moments, [{ from: 900, to: 60_900 }])).to.deep.equal([]);
  });

  it('X2 every later moment lies further right, folded and zoomed', () => {
    for (const zoom of [undefined, { from: 0.2, to: 0.4 }]) {
      const x = scaleOf(range, 1000, foldsOf(moments), zoom);
      const places = [0, 400, 900, 5000, 40_000, 60_800, 61_500].map(x);
      expect(places).to.deep.equal([...places].sort((a, b) => a - b));
    }
  });

  it('X2 zooming keeps what is at the center, and stays within the whole', () => {
    expect(zoomed({ from: 0, to: 1 }, 0.5, 0)).to.deep.equal({ from: 0, to: 0.5 });
    expect(zoomed({ from: 0.4, to: 0.6 }, 100)).to.deep.equal({ from: 0, to: 1 });
    expect(moved({ from: -0.5, to: -0.25 })).to.deep.equal({ from: 0, to: 0.25 });
    expect(moved({ from: 0.9, to: 1.15 }).to).to.equal(1);
  });

  it('X2 the axis has round times, none within a fold, however long the time', () => {
    for (const to of [900, 61_500, 86_400_000 * 30]) {
      const times = [0, 500, to];
      const folds = foldsOf(times);
      const axis = axisTimes({ from: 0, to }, 1000, folds, scaleOf({ from: 0, to }, 1000, folds));
      expect(axis.times.length, `${to}`).to.be.within(1, 13);
      for (const time of axis.times) {
        expect(time % axis.step).to.equal(0);
        expect(folds.some(([begin, stop]) => time > begin && time < stop)).to.equal(false);
      }
    }
  });
});
