/** Every RPC over a real socket, from CsiClient to handlers: what is sent arrives, what is answered comes back. */
import { expect } from 'chai';
import fc from 'fast-check';
import { PluginConnection } from '../../src/csi/channel.js';
import { CsiCalls } from '../../src/csi/csi-calls.js';
import { rpcs } from '../../src/csi/generated/plain.js';
import type { CsiHandlers } from '../../src/csi/server.js';
import { type PlainRecord, plainValue, shapeOf } from './plain-values.js';
import { Served } from './served.js';

const names = Object.keys(rpcs).filter((rpc): rpc is keyof typeof rpcs => rpc in rpcs);

/** Methods of CsiClient that make something else of the answer. */
const converted = new Set(
  names.filter((rpc) => /Capabilities$|^Probe$|^NodeGetInfo$/.test(rpc) && !/^Validate/.test(rpc)),
);

/** Values with content: the first ones that fast-check makes are the smallest. */
const someOf = (message: string): PlainRecord[] => fc.sample(plainValue(message), { numRuns: 5, seed: 20 });

async function listOf(stream: AsyncIterable<unknown>): Promise<unknown[]> {
  const list: unknown[] = [];
  for await (const item of stream) list.push(item);
  return list;
}

/** The method that is named as its RPC. */
function method(client: object, rpc: string, request: PlainRecord): unknown {
  const called: unknown = Reflect.get(client, `${rpc.slice(0, 1).toLowerCase()}${rpc.slice(1)}`);
  if (typeof called !== 'function') throw new Error(`CsiClient has no method for ${rpc}`);
  return Reflect.apply(called, client, Object.keys(request).length > 0 ? [request] : []);
}

describe('csi over a socket', () => {
  let served: Served;
  let calls: CsiCalls;
  let arrived: unknown[];
  let handlers: CsiHandlers;

  beforeEach(() => {
    served = new Served();
    calls = new CsiCalls(new PluginConnection(served.socketPath), { timeoutMs: 120_000, nodeTimeoutMs: 120_000 });
    arrived = [];
    handlers = {};
  });

  afterEach(() => {
    calls.close();
    served.end();
  });

  for (const rpc of names.filter((name) => !rpcs[name].streams)) {
    it(`${rpc}: requests arrive as they were sent, answers come as they were given`, async () => {
      const { request, response } = rpcs[rpc];
      const [requests, answers] = [someOf(request), someOf(response)];
      Reflect.set(handlers, rpc, (received: unknown) => {
        arrived.push(received);
        return answers[(arrived.length - 1) % answers.length];
      });
      await served.serve(handlers);
      for (const [index, given] of requests.entries()) {
        expect(await calls.unary(rpc, given)).to.deep.equal(answers[index]);
      }
      const client = served.client();
      for (const [index, given] of requests.entries()) {
        const got = await method(client, rpc, given);
        const isEmpty = shapeOf(response).fields.length === 0;
        if (!converted.has(rpc)) expect(got).to.deep.equal(isEmpty ? undefined : answers[index]);
      }
      expect(arrived).to.deep.equal([...requests, ...requests]);
    });
  }

  for (const rpc of names.filter((name) => rpcs[name].streams)) {
    it(`${rpc}: the request arrives as it was sent, each message comes as it was given, in order`, async () => {
      const { request, response } = rpcs[rpc];
      const [requests, answers] = [someOf(request), someOf(response)];
      Reflect.set(handlers, rpc, async function* (received: unknown) {
        arrived.push(received);
        yield* answers;
      });
      await served.serve(handlers);
      const client = served.client();
      for (const given of requests) {
        const stream = method(client, rpc, given);
        expect(await listOf(Object(stream))).to.deep.equal(answers);
      }
      expect(arrived).to.deep.equal(requests);
    });
  }

  it('an RPC without a handler is UNIMPLEMENTED', async () => {
    await served.serve({});
    for (const rpc of names.filter((name) => !rpcs[name].streams)) {
      const failure = await calls.unary(rpc, {}).catch((error: unknown) => error);
      expect(failure, rpc).to.include({ rpc, grpcCode: 'UNIMPLEMENTED', final: true });
    }
    for (const stream of [served.client().getMetadataAllocated({}), served.client().getMetadataDelta({})]) {
      const failure = await stream.next().catch((error: unknown) => error);
      expect(failure).to.include({ grpcCode: 'UNIMPLEMENTED', final: true });
    }
  });
});
