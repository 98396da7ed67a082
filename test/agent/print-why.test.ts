/** Work under way in the text of `stagecraft why`: only calls are sent to somebody. */
import { expect } from 'chai';
import { whyText } from '../../src/cli/why.js';
import { shown } from '../../src/host/shown.js';
import { detailOf } from '../../src/inspector/actor-answers.js';

describe('work under way', () => {
  const told = (effect: { src: string; sentAtMs?: number }): string => {
    const detail = detailOf(
      shown({
        ...{ address: 'task/n1/disk', state: 'running', seq: 4, version: '3', timers: [], unread: 0, context: {} },
        effects: [{ id: effect.src, input: {}, seq: 4, ...effect }],
      }),
    );
    return whyText(detail, { address: detail.address, lines: [] }, 3_000);
  };

  it('34 a watcher: named, and not taken for a call that waits to be sent', () => {
    expect(told({ src: 'watchProcess' })).to.match(/^at work +watchProcess$/m);
  });

  it('34 a call: whether it was sent, and when', () => {
    expect(told({ src: 'createVolume' })).to.match(/^call +CreateVolume, not sent yet$/m);
    expect(told({ src: 'createVolume', sentAtMs: 1_000 })).to.match(/^call +CreateVolume, sent 2\.0 s ago$/m);
  });
});
