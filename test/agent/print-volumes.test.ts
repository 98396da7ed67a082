/** Output of `volume status` and of the TROUBLE column of `volume list`. */
import { expect } from 'chai';
import { seenAt } from '../../machines/kit/state-words.js';
import { publicationMachine } from '../../machines/volume/publication.js';
import type { VolumeReport } from '../../src/api/volume-routes.js';
import { volumeDetails, volumeTable } from '../../src/cli/print-volumes.js';

const volume: VolumeReport = {
  key: { namespace: 'default', id: 'data' },
  state: 'created',
  uid: 'u',
  plugin: 'disk',
  csiId: 'vol-1',
  parameters: {},
  mutableParameters: { iops: '1' },
  secrets: [],
  capabilities: [],
  publications: {},
  parts: [],
  claims: [],
  waiting: [],
  availability: 'active',
};

const lineOf = (name: string, more: Partial<VolumeReport>): string | undefined =>
  volumeDetails({ ...volume, ...more })
    .split('\n')
    .find((line) => line.startsWith(name))
    ?.slice(name.length)
    .trim();

describe('the details of a volume', () => {
  it('A5 V11 an expansion and a modification: under way, waiting, or failed for good', () => {
    const [capacity, mutableParameters] = [{ requiredBytes: 5_000 }, { iops: '2', tier: 'fast' }];
    const message = 'no room';
    expect(lineOf('expansion', { expansion: { capacity } })).to.equal('under way');
    expect(lineOf('expansion', { expansion: { capacity, message } })).to.equal('under way: no room');
    expect(lineOf('expansion', { expansion: { capacity, failed: true, message } })).to.equal('failed: no room');
    expect(lineOf('change', { modification: { mutableParameters } })).to.equal('iops=2, tier=fast, under way');
    expect(lineOf('change', { modification: { mutableParameters, failed: true, message } })).to.equal(
      'iops=2, tier=fast, failed: no room',
    );
    expect(lineOf('change', {})).to.equal(undefined);
  });

  it('A5 V13 a deletion that waits for the current step is shown', () => {
    expect(lineOf('to be deleted', { state: 'pending-create', deleting: true })).to.equal('after the current step');
    expect(lineOf('to be deleted', { state: 'pending-delete', deleting: true })).to.equal(undefined);
    expect(lineOf('to be deleted', {})).to.equal(undefined);
  });

  it('A5 V11 in the list a failed expansion or modification is trouble, one under way is not', () => {
    const trouble = (more: Partial<VolumeReport>): string =>
      volumeTable([{ ...volume, ...more }])
        .split('\n')
        .at(-1)
        ?.split(/ 0 +/)[1] ?? '';
    const [expansion, modification] = [{ capacity: {} }, { mutableParameters: {} }];
    const why = { failed: true, message: 'no room' } as const;
    expect(trouble({ expansion: { ...expansion, ...why } })).to.equal('its expansion failed: no room');
    expect(trouble({ modification: { ...modification, ...why } })).to.equal('its modification failed: no room');
    expect(trouble({ expansion, modification })).to.equal('');
  });

  it('A5 C5 the node has not unstaged the volume: names the alloc, and where to look', () => {
    const capability = { accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;
    const claim = {
      allocId: 'web',
      nodeId: 'a',
      csiNodeId: 'n-a',
      mode: 'write',
      generation: 1,
      ...capability,
    } as const;
    const there = { csiNodeId: 'n-a', capability, readOnly: false } as const;
    const at = 'pending-node-unpublish';
    const held = (state: 'taken' | 'unpublishing', why?: string): Partial<VolumeReport> => ({
      publications: { a: { state: 'pending-node-unpublish', step: at, ...there } },
      parts: [{ id: 'publication/a', ...seenAt(publicationMachine, at), ...(why !== undefined && { why }) }],
      claims: [{ ...claim, state }],
    });
    const why = 'alloc web is being released: see stagecraft alloc status web on node a';
    const rowOf = (more: Partial<VolumeReport>): string => lineOf('a   ', more) ?? '';
    const waits = 'single-node-writer +waits for the node to unstage it';
    expect(rowOf(held('unpublishing', why))).to.match(new RegExp(`${waits}: ${why}$`));
    expect(rowOf(held('taken'))).to.match(new RegExp(`${waits}$`));
    expect(rowOf({ ...held('taken'), parts: [] })).to.match(/single-node-writer$/);
    const listed = (more: Partial<VolumeReport>): string | undefined =>
      volumeTable([{ ...volume, ...more }])
        .split('\n')
        .at(-1);
    expect(listed(held('unpublishing'))).to.match(new RegExp(` ${why}$`));
    expect(listed(held('taken'))).to.match(/ 1$/);
  });

  it('A5 V18, 34.22 where the volume was asked for, and where it can be used', () => {
    const [one, two] = [{ zone: 'a', rack: '1' }, { zone: 'b' }];
    const askedFor = (requisite: (typeof two)[], preferred: (typeof two)[]): string | undefined =>
      lineOf('asked for at', { topology: { requisite, preferred } });
    expect(askedFor([one], [])).to.equal('zone=a, rack=1');
    expect(askedFor([one, two], [two])).to.equal('zone=a, rack=1 or zone=b, first zone=b');
    expect(askedFor([], [two])).to.equal('anywhere, first zone=b');
    expect(lineOf('asked for at', {})).to.equal(undefined);
    expect(lineOf('can be used at', { accessibleTopology: [one, two] })).to.equal('zone=a, rack=1 or zone=b');
  });

  it('A5 V9, 34.25 a node still has to expand the file system: says where to look', () => {
    const there = { csiNodeId: 'n-a', state: 'published', step: 'published', readOnly: false } as const;
    const capability = { accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;
    const due = { nodeExpansionRequired: true };
    expect(lineOf('file system', due)).to.equal('expanded by the next node that mounts it');
    expect(lineOf('file system', { ...due, publications: { a: { ...there, capability } } })).to.equal(
      'to be expanded by its node: see stagecraft mount list on a',
    );
    expect(lineOf('file system', {})).to.equal(undefined);
  });

  it('A5 V2 the source of a copy, and whether the volume was taken over', () => {
    const csiId = 'v-1';
    const other = { volume: { namespace: 'team', id: 'other' }, csiId };
    expect(lineOf('copy of', { source: other })).to.equal('volume team/other');
    expect(lineOf('copy of', { source: { volumeSnapshot: 'monday', csiId } })).to.equal('snapshot monday');
    expect(lineOf('copy of', {})).to.equal(undefined);
    expect(lineOf('taken over', { external: true })).to.equal('deleting it keeps its content');
    expect(lineOf('taken over', {})).to.equal(undefined);
  });
});
