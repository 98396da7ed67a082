/** Which piece of work a volume takes up next. */
import { expect } from 'chai';
import { nobody } from '../../../machines/volume/changes.js';
import type { Publication, VolumeContext } from '../../../machines/volume/types.js';
import { nextWork } from '../../../machines/volume/work.js';

const failure = { code: 'CSI_ERROR' as const, message: 'not now', final: false };

const publication = (more: Partial<Publication> = {}): Publication => ({
  capability: { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' },
  readOnly: false,
  csiNodeId: '',
  number: 1,
  at: 'pending-publish',
  ...more,
});

const volume = ({ publications = {}, ...more }: Partial<VolumeContext>): VolumeContext => ({
  ...nobody({ namespace: 'default', id: 'data', seq: 0 }),
  csi: { id: 'vol-1', context: {}, accessibleTopology: [] },
  lifecycle: { at: 'created' },
  publications: Object.fromEntries(
    Object.entries(publications).map(([nodeId, one]) => [
      nodeId,
      { ...one, csiNodeId: one.csiNodeId || `csi-${nodeId}` },
    ]),
  ),
  ...more,
});

const tried = (notBeforeMs: number) => ({ tries: { count: 1, notBeforeMs, failure } });

describe('the next piece of work of a volume', () => {
  it('V4 it is created before all else', () => {
    const context = volume({ csi: null, lifecycle: { at: 'pending-create' }, publications: { a: publication() } });
    expect(nextWork(context, 0)).to.deep.equal({ kind: 'create', dueAtMs: 0, isCalling: true });
  });

  it('V4 it is deleted only when nothing is published', () => {
    const leaving = publication({ at: 'pending-unpublish' });
    expect(nextWork(volume({ lifecycle: { at: 'emptying' }, publications: { a: leaving } }), 0)).to.include({
      kind: 'unpublish',
      nodeId: 'a',
    });
    const held = publication({ at: 'pending-node-unpublish' });
    expect(nextWork(volume({ lifecycle: { at: 'emptying' }, publications: { a: held } }), 0)).to.equal(null);
    expect(nextWork(volume({ lifecycle: { at: 'pending-delete' } }), 0)).to.include({ kind: 'delete' });
  });

  it('V10 one that failed and is due again goes behind those that were never tried', () => {
    const context = volume({ publications: { a: publication(tried(100)), b: publication() } });
    expect(nextWork(context, 100)).to.deep.include({ nodeId: 'b', isCalling: true });
  });

  it('V10 of those that are due the one that was due first, whatever their order', () => {
    const context = volume({ publications: { a: publication(tried(90)), b: publication(tried(80)) } });
    expect(nextWork(context, 100)).to.deep.include({ nodeId: 'b', isCalling: true });
    expect(nextWork(context, 70)).to.deep.include({ nodeId: 'b', isCalling: false, dueAtMs: 80 });
  });

  it('V11 what failed is passed over', () => {
    const failed = publication({ at: 'failed.refused', failure });
    expect(nextWork(volume({ publications: { a: failed, b: publication() } }), 0)).to.include({ nodeId: 'b' });
    expect(nextWork(volume({ publications: { a: failed } }), 0)).to.equal(null);
  });

  it('V13 an in-doubt creation is repeated before the delete; without a call nothing is left to do', () => {
    expect(nextWork(volume({ csi: null, lifecycle: { at: 'absent' } }), 0)).to.equal(null);
    const inDoubt = volume({ csi: null, lifecycle: { at: 'finding-out' } });
    expect(nextWork(inDoubt, 0)).to.include({ kind: 'create' });
  });

  const writer = { accessMode: 'multi-node-single-writer', attachmentMode: 'file-system' } as const;
  const single = { accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;
  const rivals: [title: string, there: Publication, isWaiting: boolean][] = [
    ['that has it alone', publication({ capability: single, at: 'pending-unpublish' }), true],
    ['that the plugin takes for this one', publication({ csiNodeId: 'csi-b', at: 'pending-unpublish' }), true],
    ['in another mode', publication({ capability: writer, at: 'published' }), true],
    ['in the same mode', publication({ at: 'published' }), false],
    ['where it failed for good', publication({ capability: single, at: 'failed.refused', failure }), false],
    ['where it failed in doubt', publication({ capability: single, at: 'failed.in-doubt', failure }), true],
    ['where it is stuck', publication({ capability: single, at: 'failed.unpublish', failure }), true],
  ];
  for (const [title, there, isWaiting] of rivals) {
    it(`V16 beside another node ${title}: ${isWaiting ? 'it waits' : 'it is published'}`, () => {
      const held = { ...there, tries: { count: 1, notBeforeMs: 500, failure } };
      const next = nextWork(volume({ publications: { a: held, b: publication() } }), 0);
      expect(next?.nodeId === 'b').to.equal(!isWaiting);
    });
  }

  it('V16 two writers where there may be one: the second waits; readers do not', () => {
    const there = publication({ capability: writer, at: 'published' });
    const at = (readOnly: boolean) =>
      nextWork(volume({ publications: { a: there, b: publication({ capability: writer, readOnly }) } }), 0);
    expect(at(false)).to.equal(null);
    expect(at(true)).to.include({ nodeId: 'b' });
  });

  for (const there of [
    publication({ capability: single, at: 'in-doubt', number: 2 }),
    publication({ capability: single, at: 'cancelling', number: 2 }),
    publication({ capability: single, at: 'pending-publish', number: 2, mayStillArrive: true }),
  ])
    it(`V16 one that may be there (${there.at}) goes before an older one that was never called`, () => {
      const waiting = publication({ capability: single, number: 1 });
      expect(nextWork(volume({ publications: { a: there, b: waiting } }), 0)).to.include({ nodeId: 'a' });
    });
});
