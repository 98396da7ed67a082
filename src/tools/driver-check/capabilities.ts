/** Capabilities that the driver reports. They decide which checks apply. */
import type { RpcName } from '../../csi/answers.js';
import { rpcs } from '../../csi/generated/plain.js';
import type { UnaryRpc } from '../../csi/server.js';
import { type Answer, callLine } from './ask.js';
import type { DriverCalls } from './calls.js';
import { mayMount } from './host.js';
import { type CheckNeeds, type Need, Verdict } from './verdict.js';

type Teller = 'plugin' | 'controller' | 'group' | 'node';

/** Capabilities, or the reason why they are unknown. */
type Told = ReadonlySet<string> | string;

export class Capabilities {
  readonly #told: Readonly<Record<Teller, Told>>;

  private constructor(told: Readonly<Record<Teller, Told>>) {
    this.#told = told;
  }

  static async read(calls: DriverCalls): Promise<Capabilities> {
    const plugin = await pluginOffers(calls);
    const hasPlugin = (service: string): boolean => typeof plugin !== 'string' && plugin.has(`plugin/${service}`);
    const none: Told = typeof plugin === 'string' ? plugin : new Set();
    return new Capabilities({
      plugin,
      controller: hasPlugin('CONTROLLER_SERVICE') ? await controllerOffers(calls) : none,
      group: hasPlugin('GROUP_CONTROLLER_SERVICE') ? await groupOffers(calls) : none,
      node: await nodeOffers(calls),
    });
  }

  has(need: Need): boolean {
    const told = this.#told[tellerOf(need)];
    return typeof told !== 'string' && told.has(need);
  }

  /** @throws {Verdict} not offered, or blocked: the check cannot be made on this driver or this host */
  admit({ rpc, needs, mounts = false }: CheckNeeds): void {
    this.#admitService(rpc);
    for (const need of needs) this.#admitNeed(typeof need === 'string' ? [need] : need);
    if (mounts && !mayMount())
      throw new Verdict('blocked', 'only root may mount: run it as root, on the host of the driver');
  }

  #admitService(rpc: RpcName): void {
    const { service } = rpcs[rpc];
    if (service === 'Node' && typeof this.#told.node === 'string') throw new Verdict('blocked', this.#told.node);
    if (service === 'Controller') this.#admitNeed(['plugin/CONTROLLER_SERVICE']);
    if (service === 'GroupController') this.#admitNeed(['plugin/GROUP_CONTROLLER_SERVICE']);
  }

  #admitNeed(needs: readonly Need[]): void {
    if (needs.some((need) => this.has(need))) return;
    const unknown = needs.map((need) => this.#told[tellerOf(need)]).find((told) => typeof told === 'string');
    if (typeof unknown === 'string') throw new Verdict('blocked', unknown);
    throw new Verdict('not offered', `needs ${needs.join(' or ')}`);
  }
}

const tellers: Readonly<Record<string, Teller>> = {
  plugin: 'plugin',
  expansion: 'plugin',
  controller: 'controller',
  group: 'group',
  node: 'node',
};

const tellerOf = (need: Need): Teller => tellers[need.split('/')[0] ?? ''] ?? 'plugin';

/** Asks both sides if they run apart: neither has to report the capabilities of the other. */
async function pluginOffers(calls: DriverCalls): Promise<Told> {
  const offers = new Set<string>();
  for (const side of calls.sides()) {
    const answer = await calls.ask('GetPluginCapabilities', {}, { side });
    if (!answer.value) return unknownFrom(answer);
    for (const { service, volumeExpansion } of answer.value.capabilities) {
      if (service) offers.add(`plugin/${service.type}`);
      if (volumeExpansion) offers.add(`expansion/${volumeExpansion.type}`);
    }
  }
  return offers;
}

async function controllerOffers(calls: DriverCalls): Promise<Told> {
  if (!calls.has('controller')) return 'the controller has an endpoint of its own: name it too (--controller-endpoint)';
  const answer = await calls.ask('ControllerGetCapabilities', {});
  return answer.value
    ? new Set(answer.value.capabilities.map(({ rpc }) => `controller/${rpc?.type}`))
    : unknownFrom(answer);
}

async function groupOffers(calls: DriverCalls): Promise<Told> {
  if (!calls.has('controller')) return 'the controller has an endpoint of its own: name it too (--controller-endpoint)';
  const answer = await calls.ask('GroupControllerGetCapabilities', {});
  return answer.value ? new Set(answer.value.capabilities.map(({ rpc }) => `group/${rpc?.type}`)) : unknownFrom(answer);
}

async function nodeOffers(calls: DriverCalls): Promise<Told> {
  if (!calls.has('node')) return 'the node service has an endpoint of its own: name it too (--node-endpoint)';
  const answer = await calls.ask('NodeGetCapabilities', {});
  if (answer.code === 'UNIMPLEMENTED')
    return 'the endpoint serves no Node service: name the one that does (--node-endpoint)';
  return answer.value ? new Set(answer.value.capabilities.map(({ rpc }) => `node/${rpc?.type}`)) : unknownFrom(answer);
}

const unknownFrom = (answer: Answer<UnaryRpc>): string =>
  `what the driver offers is not known: ${callLine(answer.report)}`;
