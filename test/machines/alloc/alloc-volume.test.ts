/** The steps of one volume of an alloc: where each report leads, at which steps the run may not make it, and what is kept. */
import { expect } from 'chai';
import {
  left,
  type ReportedStep,
  rebooted,
  reported,
  restarted,
  stepOf,
  type VolumePart,
  volumeSteps,
} from '../../../machines/alloc/volume-steps.js';

const mount = {
  ...{ name: 'data', volume: { namespace: 'default', id: 'data' }, hostPath: '/h', taskPath: '/d' },
  ...{ readOnly: false, isDevice: false },
};
const failure = { code: 'CSI_ERROR' as const, message: 'no', final: true };
const reason = 'alloc db has it';

const reports = {
  'claim.taken': { type: 'claim.taken', generation: 7 },
  'claim.refused': { type: 'claim.refused', reason },
  'claim.confirmed': { type: 'claim.confirmed' },
  'volume.published': { type: 'volume.published' },
  'volume.mounted': { type: 'volume.mounted', mount },
  'volume.unmounted': { type: 'volume.unmounted' },
  'claim.released': { type: 'claim.released' },
  'slot.freed': { type: 'slot.freed' },
} as const satisfies Record<string, ReportedStep>;

interface Row {
  /** A volume at that step, as it comes to be. */
  part: Omit<VolumePart, 'at'>;
  /** Step after each report that the run may make. */
  reports: Partial<Record<keyof typeof reports, VolumePart['at']>>;
  /** Step of a run that is started again. */
  restarted: VolumePart['at'];
}

const claimed = { generation: 7 };
const mounted = { generation: 7, mount };

const rows: Record<VolumePart['at'], Row> = {
  'preparing.claiming': {
    part: {},
    reports: { 'claim.taken': 'preparing.publishing', 'claim.refused': 'preparing.waiting-for-claim' },
    restarted: 'preparing.claiming',
  },
  'preparing.waiting-for-claim': {
    part: {},
    reports: { 'claim.taken': 'preparing.publishing', 'claim.refused': 'preparing.waiting-for-claim' },
    restarted: 'preparing.claiming',
  },
  'preparing.publishing': {
    part: claimed,
    reports: { 'volume.published': 'preparing.mounting' },
    restarted: 'confirming-claim',
  },
  'preparing.mounting': { part: claimed, reports: { 'volume.mounted': 'mounted' }, restarted: 'confirming-claim' },
  mounted: { part: mounted, reports: {}, restarted: 'confirming-claim' },
  'confirming-claim': {
    part: mounted,
    reports: {
      ...{ 'claim.taken': 'preparing.publishing', 'claim.confirmed': 'preparing.publishing' },
      'volume.mounted': 'mounted',
    },
    restarted: 'confirming-claim',
  },
  'lost-at-reboot': { part: mounted, reports: {}, restarted: 'confirming-claim' },
  'releasing.unmounting': {
    part: claimed,
    reports: { 'volume.unmounted': 'releasing.releasing-claim' },
    restarted: 'releasing.unmounting',
  },
  'releasing.releasing-claim': {
    part: claimed,
    reports: { 'claim.released': 'releasing.reporting', 'slot.freed': 'released' },
    restarted: 'releasing.unmounting',
  },
  'releasing.reporting': { part: claimed, reports: { 'slot.freed': 'released' }, restarted: 'releasing.unmounting' },
  released: { part: claimed, reports: {}, restarted: 'releasing.unmounting' },
  failed: { part: { ...claimed, failure }, reports: {}, restarted: 'releasing.unmounting' },
};

const steps = Object.keys(volumeSteps) as VolumePart['at'][];

describe('the steps of a volume of an alloc', () => {
  for (const at of steps)
    it(`H1 H2 ${at}: where each report leads, and which ones are refused`, () => {
      const row = rows[at];
      const part = { ...row.part, at };
      for (const report of Object.values(reports)) {
        const to = row.reports[report.type];
        const { type, ...data } = report;
        if (!to) expect(() => reported(part, report)).to.throw(`'${type}' was reported of a volume`);
        // Whatever it waited for is over.
        else expect(reported({ ...part, reason: 'busy' }, report), type).to.deep.equal({ ...part, ...data, at: to });
      }
      for (const again of [restarted(part), reported(part, { type: 'restart' })])
        expect(again).to.deep.equal({ ...part, at: row.restarted });
    });

  it('H1 whatever a volume waits for is kept until it makes progress, but not of one that has nothing any more', () => {
    for (const at of steps) {
      const part = { ...rows[at].part, at };
      const to = at === 'preparing.waiting-for-claim' ? 'preparing.claiming' : at;
      const waits = reported(part, { type: 'volume.waits', reason });
      const isKept = at !== 'released' && at !== 'failed';
      expect(waits).to.deep.equal({ ...part, at: to, ...(isKept && { reason }) });
      expect(reported(waits, { type: 'volume.waits', reason: null })).to.deep.equal({ ...part, at: to });
    }
  });

  it('H2 the alloc is undone because of one volume: that one has failed once nothing is left of it', () => {
    const blamed = left({ at: 'mounted', generation: 7, mount, reason }, failure);
    expect(blamed).to.deep.equal({ at: 'releasing.unmounting', generation: 7, failure });
    const freed = [reports['volume.unmounted'], reports['slot.freed']].reduce<VolumePart>(reported, blamed);
    expect(freed).to.deep.equal({ at: 'failed', generation: 7, failure });
    expect(left({ at: 'preparing.waiting-for-claim', reason })).to.deep.equal({ at: 'releasing.unmounting' });
  });

  it('H3 the host was booted again: the claim and the path are kept, and what the volume waited for is not', () => {
    expect(rebooted({ at: 'mounted', generation: 7, mount, reason })).to.deep.equal({
      at: 'lost-at-reboot',
      ...mounted,
    });
    expect(restarted({ at: 'lost-at-reboot' })).to.deep.equal({ at: 'preparing.claiming' });
  });

  it('H1 each step has a name of its own', () => {
    expect(new Set(steps.map((at) => stepOf({ at }))).size).to.equal(steps.length);
  });
});
