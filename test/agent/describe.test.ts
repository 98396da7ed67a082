/** Lines that the agent prints for events. */
import { expect } from 'chai';
import {
  describeAtEnd,
  describePluginEvent,
  describeTask,
  isLastWord,
  pluginTellers,
} from '../../src/agent/describe.js';
import { describeAlloc, describeAllocEvent, mountTeller } from '../../src/agent/describe-mounts.js';
import { describeNodeEvent, describeVolumeEvent } from '../../src/agent/describe-volumes.js';
import { plainLines } from '../../src/host/terminal-text.js';
import type {
  AllocEvent,
  MountEvent,
  NodeUpdate,
  PluginEvent,
  TaskChanged,
  TaskStatus,
  VolumeEvent,
} from '../../src/index.js';
import { completeTask } from '../../src/tasks/spec.js';

const info = { type: 'csi-node', name: 'ebs', allocId: 'ebs-1', connection: { socketPath: '/s' } };
const event = (rest: Pick<PluginEvent, 'kind'> & Partial<PluginEvent>): PluginEvent => ({
  id: '1',
  at: 0,
  info,
  ...rest,
});

/** Describes an event of volume team/data. */
const told = (rest: object): string | undefined =>
  describeVolumeEvent({ id: '1', at: 0, key: { namespace: 'team', id: 'data' }, uid: 'u', ...rest } as VolumeEvent);

describe('A1 the lines of the agent', () => {
  it('A1 I8 changed node info is printed with the info before', () => {
    const node = { nodeId: 'n2', topology: { zone: 'b' }, maxVolumes: 8, before: { nodeId: 'n1' } };
    expect(describePluginEvent(event({ kind: 'node-info', ...node }))).to.equal(
      '00:00:00 plugin ebs (csi-node): on node n2 (zone=b, at most 8 volumes); before, on node n1',
    );
  });

  it('A1 I13 the line on a deregistered plugin names its users', () => {
    const dependents = ['volume/default/data', 'volume/default/logs'];
    expect(describePluginEvent(event({ kind: 'deregistered', dependents }))).to.equal(
      '00:00:00 plugin ebs (csi-node): deregistered ebs-1, still used by volume/default/data, volume/default/logs',
    );
  });

  it('A1 V13 the fate of a volume has a line, steps on the way have none', () => {
    const failure = { code: 'CSI_ERROR', message: 'no room', final: true };
    const left = { what: 'published', nodeId: 'a', csiNodeId: 'n-a', csiId: 'vol-1', message: 'busy' };
    const lines: [object, string | undefined][] = [
      [{ kind: 'created', csiId: 'vol-1' }, 'created, its plugin knows it as vol-1'],
      [{ kind: 'failed', in: 'create', failure }, 'failed: no room'],
      [{ kind: 'failed', in: 'expand', capacity: { requiredBytes: 1 }, failure }, 'not expanded: no room'],
      [{ kind: 'publication', nodeId: 'a', number: 1, state: 'published' }, 'published to node a'],
      [{ kind: 'publication', nodeId: 'a', number: 1, state: 'failed', failure }, 'failed on node a: no room'],
      [{ kind: 'publication', nodeId: 'a', number: 1, state: 'removed' }, 'not published to node a any more'],
      [
        { kind: 'publication', nodeId: 'a', number: 1, state: 'removed', failure },
        'given up on node a, may still be published there',
      ],
      [{ kind: 'publication', nodeId: 'a', number: 1, state: 'pending-publish' }, undefined],
      [{ kind: 'deleted' }, 'deleted'],
      [
        { kind: 'deleted', leftovers: [left] },
        'deleted, but may be left: published on node a (n-a), csi id vol-1: busy',
      ],
      [{ kind: 'claim', state: 'taken', allocId: 'w', nodeId: 'a' }, undefined],
    ];
    for (const [event, line] of lines) expect(told(event)).to.equal(line && `00:00:00 volume team/data: ${line}`);
  });

  it('A1 V15 V20 observations of a volume and its availability have a line', () => {
    const abnormal = { abnormal: true, message: 'one mirror is gone' };
    const lines: [object, string][] = [
      [{ kind: 'availability', availability: 'pause', allocIds: ['w'] }, 'its availability is pause'],
      [
        { kind: 'availability', availability: 'drain', allocIds: ['w', 'x'] },
        'its availability is drain; to be released by w, x',
      ],
      [{ kind: 'seen', isMissing: true }, 'its plugin does not list it'],
      [{ kind: 'seen', isMissing: false }, 'its plugin lists it as it should be'],
      [{ kind: 'seen', isMissing: false, condition: abnormal }, 'its condition is abnormal: one mirror is gone'],
      [
        { kind: 'seen', isMissing: false, condition: { abnormal: false, message: 'fine' }, heldOn: ['b'] },
        'its condition is normal: fine; it is on node b without a request, and stays there',
      ],
      [
        { kind: 'seen', isMissing: false, attachedElsewhere: ['csi-x'] },
        'it is on machine csi-x, which is not among the nodes, and stays there until somebody unpublishes it',
      ],
      [
        { kind: 'drifted', lost: ['a'], strays: ['b'] },
        'it was not on node a any more, and is published there again; it was on node b without a request, and is unpublished there',
      ],
    ];
    for (const [event, line] of lines) expect(told(event)).to.equal(`00:00:00 volume team/data: ${line}`);
  });

  it('A1 N1 N3 down, fenced and removed nodes have a line, reports of nodes have none', () => {
    const lines: [object, string | undefined][] = [
      [{ kind: 'reported', plugins: [] }, undefined],
      [{ kind: 'down' }, 'down, it takes no volumes until its agent reports'],
      [{ kind: 'fenced', reason: 'no power' }, 'fenced, its claims are released: no power'],
      [{ kind: 'gone' }, 'removed'],
    ];
    for (const [event, line] of lines) {
      const told = describeNodeEvent({ id: '1', at: 0, nodeId: 'a', ...event } as NodeUpdate);
      expect(told).to.equal(line && `00:00:00 node a: ${line}`);
    }
  });

  it('A1 the last health event of a deregistered instance has no line; others have', () => {
    const ill = { kind: 'health', healthy: false } as const;
    expect(isLastWord(event({ ...ill, description: 'shut down' }))).to.equal(true);
    expect(isLastWord(event({ ...ill, description: 'no answer within 5000 ms' }))).to.equal(false);
    expect(isLastWord(event({ kind: 'deregistered' }))).to.equal(false);
  });

  it('A1 a task of an earlier agent: found, lost, failed, or with a plugin that others started', () => {
    const { env: _, ...spec } = completeTask({ id: 'ebs', type: 'node', command: ['ebs'] });
    const task: TaskStatus = { id: 'ebs', state: 'running', spec: { ...spec, env: [] }, pid: 7 };
    expect(describeTask(task, true)).to.equal('task ebs: running, pid 7, found again');
    expect(describeTask(task, false)).to.equal('task ebs: was running, pid 7');
    expect(describeTask({ ...task, state: 'failed', reason: 'no license' }, false)).to.equal(
      'task ebs: failed: no license',
    );
    const others = { ...task, spec: { ...task.spec, command: undefined, socket: '/s' } };
    expect(describeTask(others, false)).to.equal('task ebs: running, not started by Stagecraft');
    expect([task, { ...task, state: 'stopped' as const }, others].map(describeAtEnd)).to.deep.equal([
      'task ebs: not stopped, pid 7',
      'task ebs: stopped',
      'task ebs: running, not started by Stagecraft',
    ]);
  });

  it('A1 T4 instances and task report the same reason to be unhealthy: it is printed once', () => {
    const { plugin, task } = pluginTellers();
    const health = (type: string, description: string, healthy = false): string =>
      plugin(event({ kind: 'health', info: { ...info, type }, healthy, description }));
    const unhealthy = (reason: string, id = 'ebs'): string =>
      task({ id: '1', at: 0, change: { type: 'unhealthy', id, reason } });
    const [of, ended] = ['00:00:00 plugin ebs', 'its plugin has ended'];
    expect(health('csi-controller', ended)).to.equal(`${of} (csi-controller): unhealthy: ${ended}`);
    expect(health('csi-node', ended)).to.equal(`${of} (csi-node): unhealthy too`);
    expect(unhealthy(ended)).to.equal('00:00:00 task ebs: unhealthy too');
    plugin(event({ kind: 'registered', info }));
    expect(health('csi-node', ended)).to.equal(`${of} (csi-node): unhealthy: ${ended}`);
    expect(unhealthy(ended, 'other')).to.equal(`00:00:00 task other: unhealthy: ${ended}`);
    expect(unhealthy('no answer')).to.equal('00:00:00 task ebs: unhealthy: no answer');
    expect(health('csi-node', 'ready', true)).to.equal(`${of} (csi-node): healthy: ready`);
    expect(health('csi-node', 'no answer')).to.equal(`${of} (csi-node): unhealthy: no answer`);
  });

  it('A1 a reason that was printed right before is repeated without the end of the log', () => {
    const { task } = pluginTellers();
    const told = (change: TaskChanged): string => task({ id: '1', at: 0, change });
    const reason = 'not ready within 5 ms: it was not asked yet; end of its log:\nno license';
    expect(told({ type: 'unhealthy', id: 'ebs', reason })).to.equal(`00:00:00 task ebs: unhealthy: ${reason}`);
    expect(told({ type: 'restarting', id: 'other', reason })).to.equal(`00:00:00 task other: restarting: ${reason}`);
    expect(told({ type: 'restarting', id: 'ebs', reason })).to.equal(
      '00:00:00 task ebs: restarting: not ready within 5 ms: it was not asked yet',
    );
    told({ type: 'started', id: 'ebs', allocId: 'ebs-1' });
    expect(told({ type: 'failed', id: 'ebs', reason })).to.equal(`00:00:00 task ebs: failed: ${reason}`);
  });

  it('A1 a task that waits for a plugin that others start names its socket', () => {
    const { env: _, ...spec } = completeTask({ id: 'ebs', type: 'node', socket: '/s' });
    const task: TaskStatus = { id: 'ebs', state: 'waiting', spec: { ...spec, env: [] } };
    expect(describeTask(task, false)).to.equal('task ebs: waiting: for an answer at /s');
  });

  it('A5 output of a driver keeps its lines and does not steer the terminal', () => {
    expect(plainLines('a\tb\r\n\u001b[31mred\u0007\n')).to.equal('a\tb\n[31mred\n');
  });

  it('A1 M14 M15 mounts left behind, lost mounts and changed conditions have a line', () => {
    const tell = mountTeller();
    const line = (rest: object): string | undefined =>
      tell({ id: '1', at: 0, node: 'a', key: { namespace: 'team', id: 'data' }, ...rest } as MountEvent);
    const failure = { code: 'CSI_ERROR', message: 'busy', final: false };
    const condition = (abnormal: boolean, message: string): object => ({
      kind: 'condition',
      condition: { abnormal, message },
    });
    const lines: [object, string | undefined][] = [
      [{ kind: 'mounted', allocId: 'web', readOnly: false, durationMs: 5 }, 'mounted for alloc web (5 ms)'],
      [{ kind: 'mounted', allocId: 'web', readOnly: true, durationMs: 5 }, 'mounted for alloc web, read-only (5 ms)'],
      [{ kind: 'unmounted', allocId: 'web', durationMs: 5 }, 'unmounted for alloc web (5 ms)'],
      [
        { kind: 'unmounted', allocId: 'web', durationMs: 5, leftBehind: '/d/x: it is not empty' },
        'unmounted for alloc web (5 ms); left behind, remove it by hand: /d/x: it is not empty',
      ],
      [
        { kind: 'unmounted-for-plugin', plugin: 'disk', path: '/d/x', allocId: 'web' },
        "plugin 'disk' reported it unmounted, but left it mounted at /d/x: Stagecraft has unmounted it",
      ],
      [{ kind: 'failed', in: 'publish', allocId: 'web', failure }, 'not mounted for alloc web yet: busy'],
      [{ kind: 'failed', in: 'unpublish', allocId: 'web', failure }, 'not unmounted for alloc web yet: busy'],
      [{ kind: 'failed', in: 'stage', failure: { ...failure, final: true } }, 'not staged: busy'],
      [{ kind: 'failed', in: 'unstage', failure }, 'not unstaged yet: busy'],
      [{ kind: 'failed', in: 'expand', failure }, 'not expanded on this node yet: busy'],
      [
        { kind: 'lost', allocId: 'web', is: 'missing', isMended: true },
        'its mount for alloc web is not there any more: it is mounted again',
      ],
      [
        { kind: 'lost', allocId: 'web', is: 'dead', isMended: false },
        'its mount for alloc web does not answer any more: it stays so until stagecraft mount retry',
      ],
      [
        { kind: 'staging-lost', isMended: true },
        'it is not staged any more: it is staged again, unless mount list says what keeps it from that',
      ],
      [{ kind: 'staging-lost', isMended: false }, 'it is not staged any more: it stays so until it is mounted again'],
      [condition(false, 'fine'), undefined],
      [condition(true, 'a bad block'), 'its condition here is abnormal: a bad block'],
      [condition(false, 'fine'), 'its condition here is not abnormal any more: fine'],
      [condition(true, 'slow'), 'its condition here is abnormal: slow'],
      [
        { kind: 'condition', condition: null },
        'its condition here is not abnormal any more: its plugin says nothing of it any more',
      ],
      [{ kind: 'condition', condition: null }, undefined],
      [{ kind: 'expanded', capacityBytes: 5 }, 'expanded on this node'],
      [
        { kind: 'left-behind', leftBehind: '/d/x: it is not empty' },
        'unstaged; left behind, remove it by hand: /d/x: it is not empty',
      ],
    ];
    for (const [event, told] of lines) expect(line(event)).to.equal(told && `00:00:00 volume team/data: ${told}`);
  });

  it('A1 H1 H3 the fate of an alloc has a line, steps on the way have none', () => {
    const failure = { code: 'TIMEOUT' as const, message: 'too late', final: false };
    const lines: [object, string | undefined][] = [
      [{ kind: 'preparing' }, undefined],
      [{ kind: 'prepared' }, 'prepared'],
      [{ kind: 'recovering' }, 'recovering, until its volumes are known to be mounted'],
      [{ kind: 'releasing' }, undefined],
      [{ kind: 'releasing', failure }, 'not prepared: too late'],
      [{ kind: 'claim-lost', failure: { ...failure, code: 'CLAIM_LOST' } }, 'too late'],
      [{ kind: 'releasing', failure: { ...failure, code: 'CLAIM_LOST' } }, undefined],
      [{ kind: 'failed', failure }, 'failed; nothing of it is left here'],
      [{ kind: 'released' }, 'released'],
    ];
    for (const [rest, line] of lines)
      expect(describeAllocEvent({ id: '1', at: 0, node: 'a', allocId: 'web', ...rest } as AllocEvent)).to.equal(
        line && `00:00:00 alloc web: ${line}`,
      );
    const web = { allocId: 'web', volumes: [], waits: {} };
    expect(describeAlloc({ ...web, state: 'prepared' })).to.equal('alloc web: prepared');
    expect(describeAlloc({ ...web, state: 'releasing', waits: { d: 'busy' }, error: failure })).to.equal(
      'alloc web: releasing: too late; d: busy',
    );
  });
});
