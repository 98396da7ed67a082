/** Processes that a plugin's process has started, when that ends: real processes over real time. */
import { expect } from 'chai';
import type { Logger } from '../../src/engine/logger.js';
import { until as untilTrue } from '../until.js';
import { findProcesses } from './found.js';
import { command, hostpath, TaskHouse, until } from './task-house.js';

/** A driver that starts a process which leaves its session, as FUSE daemons do. */
const daemonic = {
  ...hostpath,
  command: ['/bin/sh', '-c', 'setsid sleep 606 & exec "$0" "$@"', ...command],
};

describe('processes that a plugin has started', () => {
  let house: TaskHouse;
  let warnings: string[];
  beforeEach(async () => {
    house = new TaskHouse();
    warnings = [];
    const logger: Logger = {
      ...{ debug() {}, info() {}, error() {} },
      warn: (_, message) => void warnings.push(message),
    };
    await house.open({ logger });
  });
  afterEach(() => house.dispose());

  const pids = (): number[] => findProcesses(`${house.dataDir}#hostpath`).map(({ identity }) => identity.pid);
  /** The daemons: all but the plugin's own process. */
  const daemons = (): number[] => pids().filter((pid) => pid !== house.pid);

  it('T4, 34.33 its process is killed: they are ended with it, and a line in the log names them', async () => {
    await house.runtime.tasks.start(daemonic);
    await until(house.updates, 'healthy');
    const [daemon = 0] = daemons();
    process.kill(house.pid, 'SIGKILL');
    await until(house.updates, 'healthy');
    expect(daemons()).to.have.length(1).and.not.to.include(daemon);
    await untilTrue(() => warnings.some((line) => line.includes(`sleep (${daemon})`)));
    expect(warnings.find((line) => line.includes('restart.keep: children leaves it'))).to.be.a('string');
  });

  it('T4, 34.33 with restart.keep: children they stay over kills and restarts, and a stop ends them', async () => {
    await house.runtime.tasks.start({ ...daemonic, restart: { ...daemonic.restart, keep: 'children' } });
    await until(house.updates, 'healthy');
    const first = daemons();
    process.kill(house.pid, 'SIGKILL');
    await until(house.updates, 'healthy');
    await house.runtime.tasks.restart('hostpath');
    await until(house.updates, 'healthy');
    const all = daemons();
    expect(all).to.have.length(3);
    expect(all).to.include.members(first);
    expect(warnings).to.deep.equal([]);

    await house.runtime.tasks.stop('hostpath');
    await until(house.updates, 'stopped');
    expect(pids()).to.deep.equal([]);
  });
});
