/** Text of `stagecraft why` on an alloc that a reason holds up in a step that goes on by itself otherwise. */
import { expect } from 'chai';
import { whyText } from '../../src/cli/why.js';
import { shown } from '../../src/host/shown.js';
import { detailOf } from '../../src/inspector/actor-answers.js';

describe('why an alloc waits', () => {
  const told = (part: { at: string; reason?: string }): string => {
    const detail = detailOf(
      shown({
        ...{
          address: 'alloc/n1/web',
          state: { releasing: { 'asked-for': 'working' } },
          seq: 4,
          version: '2',
          effects: [],
          timers: [],
          unread: 0,
        },
        context: { node: 'n1', allocId: 'web', volumes: [], parts: { data: part }, failure: null },
      }),
    );
    return whyText(detail, { address: detail.address, lines: [] }, 1_000);
  };

  for (const at of ['preparing.claiming', 'preparing.mounting', 'releasing.unmounting'])
    it(`${at}, with a reason: it is a wait, and what there is to do is not 'nothing'`, () => {
      const text = told({ at, reason: 'task disk has failed: start it with stagecraft task restart disk' });
      expect(text).to.match(/^waits +volume data: .*task disk has failed: start it/m);
      expect(text).to.match(/^advice +nothing here: see what it waits for$/m);
    });

  it('without a reason: no wait, nothing to do', () => {
    const text = told({ at: 'releasing.unmounting' });
    expect(text).not.to.match(/^waits/m);
    expect(text).to.match(/^advice +nothing to do$/m);
  });
});
