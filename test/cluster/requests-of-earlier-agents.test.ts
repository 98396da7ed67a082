/** The form of each request between agents, which agents of 0.2.0 and 0.3.0 read and send. */
import { expect } from 'chai';
import type { OwnerPort } from '../../src/cluster/forwarded.js';
import type { Method } from '../../src/cluster/request-server.js';
import { actorsOnAnyAgent, claimsOnAnyAgent, onAnyAgent } from '../../src/runtime/any-agent.js';

const key = { id: 'data' };
const address = 'volume/default/data';
const claim = { allocId: 'web', nodeId: 'a', generation: 1 };
const use = { accessMode: 'single-node-writer', attachmentMode: 'file-system' };
const limit = { timeoutMs: 5_000 };

/** Arguments of each request; options come last. */
const requests: Record<string, unknown[]> = {
  'volumes.create': [
    { id: 'data', plugin: 'disk' },
    { ...limit, wait: true, home: 'a' },
  ],
  'volumes.publish': [key, 'a', { ...limit, readOnly: true }],
  'volumes.unpublish': [key, 'a', limit],
  'volumes.expand': [key, { requiredBytes: 1_024 }, limit],
  'volumes.modify': [key, { tier: 'fast' }, limit],
  'volumes.delete': [key, { ...limit, force: true, uid: 'uid' }],
  'volumes.claim': [key, { ...limit, ...claim, ...use, mode: 'write' }],
  'volumes.capacity': ['disk', { parameters: {} }, limit],
  'volumes.release': [key, 'web', { nodeId: 'a', generation: 1 }],
  'volumes.setAvailability': [key, 'drain'],
  'volumes.retry': [key, { acceptDriver: 'other' }],
  'volumes.acknowledge': [key],
  'volumes.reconcile': ['disk'],
  'volumes.orphans': ['disk'],
  'snapshots.create': [
    { id: 'nightly', volume: key },
    { ...limit, wait: true },
  ],
  'snapshots.delete': [key, { ...limit, force: true, uid: 'uid' }],
  'snapshots.retry': [key, { acceptDriver: 'other' }],
  'snapshots.acknowledge': [key],
  'groupSnapshots.create': [
    { id: 'nightly', volumes: [key] },
    { ...limit, wait: true },
  ],
  'groupSnapshots.delete': [key, { ...limit, force: true, uid: 'uid' }],
  'groupSnapshots.retry': [key, { acceptDriver: 'other' }],
  'groupSnapshots.acknowledge': [key],
  'nodes.report': [{ id: 'a', plugins: [] }],
  'nodes.down': ['a'],
  'nodes.fence': ['a', 'gone'],
  'nodes.remove': ['a'],
  'nodes.reportUnstaged': ['a', key, { claimGeneration: 1 }],
  'actors.send': [address, { type: 'volume.retry' }, { by: 'ann' }],
  'actors.release': [address],
  'claims.look': [key, { nodeId: 'a' }, {}],
  'claims.claim': [key, { ...claim, ...use, mode: 'write' }, {}],
  'claims.holds': [key, claim, {}],
  'claims.publish': [key, { nodeId: 'a', ...use, readOnly: false, claim }, {}],
  'claims.release': [key, claim, {}],
  'claims.unstaged': [key, claim, {}],
  'claims.holdReleased': [key, claim, {}],
  'claims.expanded': [key, { nodeId: 'a', uid: 'uid', requiredBytes: 1_024 }, {}],
};
const reads: Record<string, unknown[]> = {
  'volumes.get': [key],
  'snapshots.get': [key],
  'groupSnapshots.get': [key],
  'nodes.status': ['a'],
  'actors.inspect': [address],
};

/** Requests whose work may be limited in time, or given up. */
const isLimited = (name: string): boolean =>
  name.startsWith('claims.') || requests[name]?.some((one) => Object(one).timeoutMs !== undefined) === true;

type Methods = Record<string, (...args: unknown[]) => Promise<unknown>>;

describe('requests of and to agents of an earlier release', () => {
  const served = new Map<string, Method>();
  /** Requests as they were sent, and the arguments that methods got here. */
  let sent: { name: string; args: unknown; wait: unknown }[];
  let received: { name: string; args: unknown[] }[];
  const parts: Record<string, Methods> = {};

  const owner: OwnerPort = {
    serve: (name, method) => void served.set(name, method),
    run: async (name, args, _, wait) => {
      sent.push({ name, args: JSON.parse(JSON.stringify(args)), wait });
      return undefined as never;
    },
    readElsewhere: async (name, args) => {
      sent.push({ name, args, wait: {} });
      return undefined as never;
    },
  };

  before(() => {
    const local: Record<string, Methods> = {};
    for (const name of Object.keys({ ...requests, ...reads })) {
      const [part = '', method = ''] = name.split('.');
      local[part] = { ...local[part], [method]: async (...args) => void received.push({ name, args }) };
    }
    Object.assign(parts, onAnyAgent(local as never, owner), {
      claims: claimsOnAnyAgent(local.claims as never, owner),
      actors: actorsOnAnyAgent(local.actors as never, owner),
    });
  });
  beforeEach(() => {
    sent = [];
    received = [];
  });

  const call = (name: string, args: unknown[]): Promise<unknown> => {
    const [part = '', method = ''] = name.split('.');
    const work = parts[part]?.[method];
    if (!work) throw new Error(`there is no ${name}`);
    return work(...args);
  };
  /** The same arguments, with more in the options. */
  const withOptions = (args: unknown[], more: object): unknown[] => [
    ...args.slice(0, -1),
    { ...Object(args.at(-1)), ...more },
  ];

  it('O4, 34.7 every request that an earlier release makes is served, and no other one', () => {
    expect([...served.keys()].sort()).to.deep.equal(Object.keys({ ...requests, ...reads }).sort());
  });

  for (const [name, args] of Object.entries(requests)) {
    it(`O4, 34.7 ${name} is sent as an earlier release reads it, without signal and listener`, async () => {
      const { signal } = new AbortController();
      const own = { signal, ...(name.startsWith('claims.') && { onWait: () => undefined }) };
      await call(name, isLimited(name) ? withOptions(args, own) : args);
      const wait = { onWait: undefined, timeoutMs: Object(args.at(-1)).timeoutMs, ...own };
      expect(sent).to.deep.equal([{ name, args, wait: isLimited(name) ? wait : {} }]);
    });

    it(`O4, 34.7 ${name} of an earlier release: its method gets what was sent, and the signal of this agent`, async () => {
      const { signal } = new AbortController();
      const onWait = (): void => undefined;
      await served.get(name)?.(args, { signal, from: 'b/1', onWait });
      const own = {
        signal,
        ...(name.startsWith('claims.') && { onWait }),
        ...(name === 'volumes.create' && { askedOn: 'b' }),
      };
      expect(received).to.deep.equal([{ name, args: isLimited(name) ? withOptions(args, own) : args }]);
    });
  }

  it('O4, 34.7 arguments that are left out are null or none in a request: the method gets its defaults', async () => {
    await call('volumes.publish', [key, 'a']);
    await call('volumes.release', [key, 'web']);
    await call('volumes.reconcile', []);
    expect(sent.map(({ args }) => args)).to.deep.equal([[key, 'a', {}], [key, 'web', null], [null]]);
    const { signal } = new AbortController();
    const wait = { signal, from: 'b/1', onWait: () => undefined };
    for (const args of [
      [key, 'a'],
      [key, 'a', null],
    ])
      await served.get('volumes.publish')?.(args, wait);
    for (const args of [[], [null]]) await served.get('volumes.reconcile')?.(args, wait);
    const [published, reconciled] = [[key, 'a', { signal }], [undefined]];
    expect(received.map(({ args }) => args)).to.deep.equal([published, published, reconciled, reconciled]);
  });
});
