/**
 * The publications of a volume: how one begins, takes an event and ends. Pure.
 * What a publication makes of an event, its chart says: publication.ts
 */
import type { Failure } from '../kit/host.js';
import { isIn } from '../kit/parts.js';
import { grant, releaseDetached, releaseWithNode } from './claims.js';
import { type Draft, put } from './draft.js';
import { stepExpansion } from './expanding.js';
import { isLeaving } from './lifecycle.js';
import { excludes, holdsOf, isInUse, mayBeThere, wishOf } from './modes.js';
import { publicationChart } from './publication.js';
import type { PublicationData, PublicationEvent, PublicationRequest } from './publication-setup.js';
import type { Publication, WorkKind } from './types.js';
import { underWay } from './work.js';

type Beginning = Extract<PublicationRequest, { type: 'wanted' | 'wanted-again' | 'found-attached' }>['type'];

/** Puts a new publication on the node. */
export function begin(
  draft: Draft,
  nodeId: string,
  data: Omit<PublicationData, 'number'>,
  as: Beginning = 'wanted',
): void {
  draft.publicationNumber += 1;
  const { publicationNumber: number } = draft;
  put(draft, nodeId, publicationChart.step(publicationChart.begin({ ...data, number }), { type: as }));
}

/** Steps the publication on the node, if there is one. Outcomes of calls: outcomes.ts */
export const step = (draft: Draft, nodeId: string, event: PublicationRequest): void => stepTo(draft, nodeId, event);

/** @param unconfirmed reason, if it was given up without knowing that it is gone */
export function stepTo(draft: Draft, nodeId: string, event: PublicationEvent, unconfirmed?: Failure): void {
  const present = draft.publications[nodeId];
  if (!present) return;
  const next = publicationChart.step(present, event);
  mustFit(next, underWay(draft, nodeId));
  if (next.at !== 'removed') {
    put(draft, nodeId, next);
    return;
  }
  delete draft.publications[nodeId];
  const failure = unconfirmed && { failure: unconfirmed };
  draft.broadcasts.push({ type: 'publication', nodeId, number: next.number, state: 'removed', ...failure });
  releaseWithNode(draft, nodeId);
  if (next.next && !isLeaving(draft.lifecycle)) begin(draft, nodeId, next.next);
  // The volume is on no node any more, which an expansion may wait for: tried at once.
  if (draft.expansion?.tries && !Object.values(draft.publications).some(mayBeThere))
    stepExpansion(draft, { type: 'hasten' });
  grant(draft);
}

/** Refuses a publication that its call can't be about: it stays until the call has ended, and a detach ends its node's time. */
function mustFit({ at, tries }: Publication, called: WorkKind | undefined): void {
  if (at === 'removed' && called) throw new Error(`it is removed while a call to ${called} is under way`);
  if (tries?.count === 0 && (at !== 'pending-unpublish' || called === 'unpublish'))
    throw new Error(
      `its node is given time to unmount while it is ${at}${called ? `, during a call to ${called}` : ''}`,
    );
}

/** Withdraws the publication on the node: it is not wanted any more. */
export const withdraw = (draft: Draft, nodeId: string): void =>
  step(draft, nodeId, { type: 'withdrawn', underWay: underWay(draft, nodeId) });

/**
 * Follows claims and holds that have moved on: releases those that nothing keeps, and unpublishes with the last of
 * those that used the publication. A claim that was taken meanwhile gets a publication of its own.
 */
export function followClaims(draft: Draft, nodeId: string): void {
  const here = draft.claims.filter((one) => one.nodeId === nodeId);
  const publication = draft.publications[nodeId];
  const isHeld = publication !== undefined && holdsOf(publication).length > 0;
  const staying = here.filter(({ state }) => state !== 'node-detached');
  const isStaged = isHeld || staying.some(({ state }) => state === 'unpublishing');
  if (publication && isIn(publication, 'pending-node-unpublish') && !isStaged) {
    step(draft, nodeId, { type: 'node.let-go' });
  } else if (staying.length > 0) {
    releaseDetached(draft, nodeId);
    const isLeaving = staying.every(({ state }) => state === 'unpublishing');
    if (isLeaving && publication && isInUse(publication)) step(draft, nodeId, { type: 'node.to-unstage' });
  } else if (isHeld) {
    // Claims keep their slots until the allocs without a claim have let go.
    if (isInUse(publication)) step(draft, nodeId, { type: 'node.to-unstage' });
  } else if (publication) {
    withdraw(draft, nodeId);
  } else {
    releaseWithNode(draft, nodeId);
    grant(draft);
  }
}

/** Retries what failed unless its place was taken since, and tries at once what waits for its time. */
export function retryPublications(draft: Draft): void {
  for (const [nodeId, publication] of Object.entries(draft.publications)) {
    const wanted = Object.entries(draft.publications).filter(([other, one]) => other !== nodeId && wishOf(one));
    step(draft, nodeId, { type: 'retry', isFree: !wanted.some(([, one]) => excludes(one, publication)) });
  }
}
