import { expect } from 'chai';
import { describeEdits, editOf, isChanged, stepText } from '../../src/page/actor/edits.js';

describe('changes of the past', () => {
  it('J3 a form gives an event to put in, to change, or a step to leave out', () => {
    const event = { type: 'volume.unpublish', nodeId: 'worker-1' };
    expect(editOf('insert', 6, JSON.stringify(event))).to.deep.equal({ after: 6, event });
    expect(editOf('edit', 6, JSON.stringify(event))).to.deep.equal({ edit: 6, event });
    expect(editOf('drop', 6, 'ignored')).to.deep.equal({ drop: 6 });
  });

  it('J3 what is no event is refused with what to do', () => {
    expect(editOf('insert', 6, '{"type"'))
      .to.have.property('fault')
      .that.matches(/^This is not JSON: .* Mend it/);
    for (const text of ['[]', '7', 'null', '{"type":""}', '{"type":7}'])
      expect(editOf('insert', 6, text), text)
        .to.have.property('fault')
        .that.includes('Name the type');
  });

  it('J3 all changes are named, and the steps that they touch', () => {
    const edits = [
      { after: 6, event: { type: 'volume.unpublish' } },
      { drop: 9 },
      { edit: 8, event: { type: 'retry' } },
    ];
    expect(describeEdits(edits)).to.equal(
      'volume.unpublish had come after step 6, and step 9 had not come, and step 8 had been retry',
    );
    expect([6, 6.01, 7, 9].map((seq) => isChanged(edits, seq))).to.deep.equal([false, true, true, true]);
    expect([7, 8, 9].map((seq) => isChanged([{ drop: 8 }], seq))).to.deep.equal([false, true, true]);
    expect([6, 6.01].map(stepText)).to.deep.equal(['6', 'new']);
  });
});
