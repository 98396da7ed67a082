/** Waiting calls keep their place once they are admitted. Uses a simulated clock and a healthy plugin. */
import { expect } from 'chai';
import type { AdmissionCall, CallOutcome, Wait } from '../../machines/kit/csi-types.js';
import { Admissions, ticketMs } from '../../src/calls/admissions.js';
import type { PluginCall } from '../../src/calls/homes.js';
import { Homes } from '../../src/calls/homes.js';
import { PluginAccess } from '../../src/calls/plugin-access.js';
import { PluginCalls, type PluginWork } from '../../src/calls/plugin-calls.js';
import type { PluginObservation } from '../../src/calls/plugin-port.js';
import { VolumeLocks } from '../../src/calls/volume-locks.js';
import type { EffectCall } from '../../src/engine/effects/effects.js';
import { noSecrets } from '../../src/secrets/secrets.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';

const retry = { initialMs: 100, maxMs: 1_000 };
const well: PluginObservation = {
  capabilities: new Set(),
  pluginCapabilities: new Set(),
  hasService: true,
  wellAtMs: 1,
};

describe('calls that have to wait', () => {
  const clock = simulatedClock();
  let observation: PluginObservation;
  let changed: () => void;
  let calls: PluginCalls;
  let made: string[];
  /** Ends the running call of each actor. */
  let end: Record<string, () => void>;

  beforeEach(() => {
    observation = well;
    made = [];
    end = {};
    calls = callsWith(64);
  });

  const accessWith = (maxInFlight: number): PluginAccess => {
    const plugins = {
      isKnown: () => true,
      observation: () => observation,
      client: async () => ({}),
      lookAgain: () => {},
      watch: (_: string, callback: () => void) => {
        changed = callback;
        return () => {};
      },
    };
    return new PluginAccess(plugins, { clock, maxInFlight });
  };
  const callsWith = (maxInFlight: number, homes?: Homes): PluginCalls => {
    const shared = { access: accessWith(maxInFlight), secrets: noSecrets, clock, retry, locks: new VolumeLocks() };
    return new PluginCalls({ ...shared, ...(homes && { homes }) });
  };
  const see = (seen: PluginObservation): void => {
    observation = seen;
    changed();
  };
  const away: PluginObservation = { ...well, trouble: 'it is away', troubleKind: 'absent' };
  const reason = "plugin 'disk' can't be called: it is away";
  const busy = "another call to plugin 'disk' about the volume is under way";

  const runOf = <TInput>(address: string, input: TInput, sent: object[] = []): EffectCall<TInput> => {
    const { signal } = new AbortController();
    const silent = {
      onAbort: () => () => {},
      sent: () => {},
      mayGoOn: () => {},
      clearInMs: () => 0,
      endDoubts: async () => false,
    };
    const names = { address, id: 'publish', src: 'publish', seq: 1, recovered: false, attempt: 1 };
    return { ...names, ...silent, input, signal, send: (event) => sent.push(event) };
  };
  const call: PluginCall = { plugin: 'disk', secrets: {}, isForced: false };
  const ask = (who: string, more: Partial<PluginCall> = {}): Promise<CallOutcome<string>> => {
    const work: PluginWork<string> = {
      volumes: ['vol-1'],
      call: () => {
        made.push(who);
        return new Promise((resolve) => {
          end[who] = () => resolve(who);
        });
      },
    };
    return calls.run(runOf(who, { ...call, ...more }), work);
  };
  const { run: admit } = {
    run: (wait: Wait, who: string, more: Partial<PluginCall> = {}, sent: object[] = []) => {
      const input: AdmissionCall<PluginCall> = { src: 'publish', call: { ...call, ...more }, wait };
      return calls.admission(() => ['vol-1']).run(runOf(who, input, sent));
    },
  };
  const statusOf = async (outcome: Promise<unknown>): Promise<unknown> => {
    let known: unknown = 'waits';
    void outcome.then((value) => {
      known = value instanceof Object && 'status' in value ? value.status : value;
    });
    await clock.advance(0);
    return known;
  };

  it('V9 plugin away: the call ends at once with the reason', async () => {
    observation = away;
    expect(await ask('one')).to.deep.equal({ status: 'must-wait', reason, for: 'plugin' });
    expect(made).to.deep.equal([]);
  });

  it('V9 another call about the volume under way: the call ends at once with the reason', async () => {
    const first = ask('one');
    await clock.advance(0);
    expect(await ask('two')).to.deep.equal({ status: 'must-wait', reason: busy, for: 'turn' });
    end.one?.();
    expect(await first).to.deep.include({ status: 'done', answer: 'one' });
  });

  it('V9 admitted after another call: keeps its turn until it asks; no other call gets between', async () => {
    const first = ask('one');
    await clock.advance(0);
    const waiting = admit({ reason: busy, for: 'turn' }, 'two');
    expect(await statusOf(waiting)).to.equal('waits');
    end.one?.();
    await first;
    expect(await statusOf(waiting)).to.equal('admitted');
    expect(await ask('three')).to.include({ status: 'must-wait' });
    const second = ask('two');
    await clock.advance(0);
    expect(made).to.deep.equal(['one', 'two']);
    end.two?.();
    expect(await second).to.deep.include({ status: 'done', answer: 'two' });
  });

  it('V9 admitted when the plugin is back: counts as in flight, so a busy plugin does not refuse it', async () => {
    calls = callsWith(1);
    observation = away;
    await ask('one');
    const waiting = admit({ reason, for: 'plugin' }, 'one');
    expect(await statusOf(waiting)).to.equal('waits');
    see(well);
    expect(await statusOf(waiting)).to.equal('admitted');
    const other = calls.run(runOf('other', call), { call: async () => made.push('other') });
    expect(await statusOf(other)).to.equal('waits');
    const first = ask('one');
    await clock.advance(0);
    expect(made).to.deep.equal(['one']);
    end.one?.();
    await first;
    expect(await statusOf(other)).to.equal('done');
  });

  it('V9 admitted, but the machine asks for nothing: the place is free after a second', async () => {
    const first = ask('one');
    await clock.advance(0);
    const waiting = admit({ reason: busy, for: 'turn' }, 'two');
    end.one?.();
    await first;
    expect(await statusOf(waiting)).to.equal('admitted');
    await clock.advance(ticketMs - 1);
    expect(await ask('three')).to.include({ status: 'must-wait' });
    await clock.advance(1);
    void ask('three');
    await clock.advance(0);
    expect(made).to.deep.equal(['one', 'three']);
    end.three?.();
  });

  it('V9 plugin goes away between admission and call: the call waits again and holds nothing', async () => {
    observation = away;
    const waiting = admit({ reason, for: 'plugin' }, 'one');
    await clock.advance(0);
    see(well);
    expect(await statusOf(waiting)).to.equal('admitted');
    see(away);
    expect(await ask('one')).to.deep.equal({ status: 'must-wait', reason, for: 'plugin' });
    see(well);
    void ask('two');
    await clock.advance(0);
    expect(made).to.deep.equal(['two']);
    end.two?.();
  });

  it('V9 waiting for the plugin: holds no lock, so the other side can call about the volume', async () => {
    const locks = new VolumeLocks();
    observation = away;
    const access = new PluginAccess(
      {
        isKnown: () => true,
        observation: () => observation,
        client: async () => ({}),
        lookAgain: () => {},
        watch: () => () => {},
      },
      { clock, maxInFlight: 1 },
    );
    const admissions = new Admissions({ access, clock, retry, locks });
    const input: AdmissionCall<PluginCall> = { src: 'publish', call, wait: { reason, for: 'plugin' } };
    const waiting = admissions.wait(runOf('one', input), ['vol-1']);
    expect(await statusOf(waiting)).to.equal('waits');
    expect(locks.take(['disk\nvol-1'])).to.equal(true);
  });

  it('V11 reason of the wait changes: the new reason is reported, and no reason is repeated', async () => {
    const first = ask('one');
    await clock.advance(0);
    const sent: object[] = [];
    const waiting = admit({ reason: busy, for: 'turn' }, 'two', {}, sent);
    await clock.advance(0);
    see(away);
    end.one?.();
    await first;
    expect(await statusOf(waiting)).to.equal('waits');
    expect(sent).to.deep.equal([{ type: 'wait.changed', reason, for: 'plugin' }]);
    see(well);
    expect(await statusOf(waiting)).to.equal('admitted');
  });

  it('V13 forced call, plugin stays away: fails after ten seconds, no call made', async () => {
    observation = away;
    const waiting = admit({ reason, for: 'plugin' }, 'one', { isForced: true });
    await clock.advance(9_999);
    expect(await statusOf(waiting)).to.equal('waits');
    await clock.advance(1);
    expect(await waiting).to.deep.include({ status: 'not-sent' });
  });

  it('V13 forced call, another call about its volume does not end: fails after ten seconds', async () => {
    void ask('one');
    await clock.advance(0);
    const waiting = admit({ reason: busy, for: 'turn' }, 'two', { isForced: true });
    await clock.advance(10_000);
    expect(await waiting).to.deep.include({ status: 'not-sent' });
    expect(made).to.deep.equal(['one']);
    end.one?.();
  });

  it('V9 admitted, then waits for something else: its old place does not block it afterwards', async () => {
    const first = ask('one');
    await clock.advance(0);
    const waiting = admit({ reason: busy, for: 'turn' }, 'two');
    end.one?.();
    await first;
    expect(await statusOf(waiting)).to.equal('admitted');
    expect(await statusOf(admit({ reason, for: 'plugin' }, 'two'))).to.equal('admitted');
  });

  it('V9 cancelled in the moment of admission: holds nothing', async () => {
    const locks = new VolumeLocks();
    const keys = ['disk\nvol-1'];
    const access = accessWith(1);
    const admissions = new Admissions({ access, clock, retry, locks });
    const input: AdmissionCall<PluginCall> = { src: 'publish', call, wait: { reason: busy, for: 'turn' } };
    const state = new AbortController();
    locks.take(keys);
    const waiting = admissions
      .wait({ ...runOf('one', input), signal: state.signal }, ['vol-1'])
      .catch(() => 'given up');
    expect(await statusOf(waiting)).to.equal('waits');
    locks.leave(keys);
    state.abort();
    expect(await statusOf(waiting)).to.equal('given up');
    expect(locks.take(keys)).to.equal(true);
  });

  describe('about a volume on another node', () => {
    const elsewhere = { home: 'other' };
    beforeEach(() => {
      const node = { nodeId: 'own', stateOf: async () => 'ready' };
      calls = callsWith(64, new Homes({ ...node, scopeOf: () => 'host', nodesAt: async () => [] }));
    });
    const attach = (): Promise<CallOutcome<string>> =>
      calls.run(runOf('one', { ...call, ...elsewhere }), {
        attaches: true,
        without: () => 'no call is needed',
        call: async () => 'called',
      });

    it('D4 plugin back here before the wait begins: admitted, as the work may need no call', async () => {
      observation = away;
      const outcome = await attach();
      if (outcome.status !== 'must-wait') throw new Error(`it is ${outcome.status}`);
      see(well);
      const { status: _, ...wait } = outcome;
      const waiting = admit(wait, 'one', elsewhere);
      expect(await statusOf(waiting)).to.equal('admitted');
      expect(await attach()).to.deep.include({ answer: 'no call is needed' });
    });

    it('D4 V13 request becomes forced: the wait ends', async () => {
      const waiting = admit({ reason: 'it is on node other', for: 'elsewhere' }, 'one', {
        ...elsewhere,
        isForced: true,
      });
      expect(await statusOf(waiting)).to.equal('admitted');
    });
  });
});
