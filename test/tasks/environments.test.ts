/** Values of environments in memory: waited for as long as nobody has given them. */
import { expect } from 'chai';
import { TaskEnvironments } from '../../src/tasks/environments.js';
import { completeTask } from '../../src/tasks/spec.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';

const task = (token: string) => completeTask({ id: 'disk', type: 'node', command: ['disk'], env: { TOKEN: token } });
const { signal } = new AbortController();

describe('values of environments', () => {
  const clock = simulatedClock();
  const make = (): TaskEnvironments => new TaskEnvironments({ clock, resolve: async () => ({}) });

  it('34.11 values that nobody gives: after 30 s the start fails with their names and what to do', async () => {
    const spec = make().recorded(task('planted'), undefined);
    const failed = make()
      .valuesOf(spec, signal)
      .catch((error: unknown) => error);
    await clock.advance(30_000);
    expect(await failed)
      .to.have.property('message')
      .that.match(/^the values of TOKEN are not known: .* start the task with its whole spec/);
    expect(clock.pending).to.equal(0);
  });

  it('34.11 values that are given while a start waits: the start goes on', async () => {
    const spec = make().recorded(task('planted'), undefined);
    const later = make();
    const waiting = later.valuesOf(spec, signal);
    later.recorded(task('another'), spec);
    expect(later.recorded(task('planted'), spec)).to.deep.equal(spec);
    expect(await waiting).to.deep.equal({ TOKEN: 'planted' });
  });

  it('34.11 values whose commit was refused do not replace those of the record', async () => {
    const environments = make();
    const spec = environments.recorded(task('planted'), undefined);
    environments.recorded(task('refused'), spec);
    expect(await environments.valuesOf(spec, signal)).to.deep.equal({ TOKEN: 'planted' });
  });

  it('34.11 values of specs that no record has any more are forgotten', async () => {
    const environments = make();
    const old = environments.recorded(task('old'), undefined);
    environments.keepOnly('disk', environments.recorded(task('new'), old));
    expect(await environments.knownValues(old, signal)).to.equal(undefined);
  });

  it('34.11 two tasks with the same values have different digests', () => {
    const [one, other] = [make(), make()].map((environments) => environments.recorded(task('planted'), undefined));
    expect(one?.envDigest?.digest)
      .to.match(/^[0-9a-f]{64}$/)
      .and.not.equal(other?.envDigest?.digest);
  });
});
