import { expect } from 'chai';
import { changedFrom, describeEdits, editOf } from '../../src/page/actor/edits.js';

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

  it('J3 all changes are named, and the first step that they touch', () => {
    const edits = [
      { after: 6, event: { type: 'volume.unpublish' } },
      { drop: 9 },
      { edit: 8, event: { type: 'retry' } },
    ];
    expect(describeEdits(edits)).to.equal(
      'volume.unpublish had come after step 6, and step 9 had not come, and step 8 had been retry',
    );
    expect(changedFrom(edits)).to.equal(7);
  });
});
