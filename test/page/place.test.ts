import { expect } from 'chai';
import { choiceOf, placeIn, present, stepped } from '../../src/page/actor/place.js';

const place = (query: string) => placeIn(new URLSearchParams(query));

describe('moment that a link names', () => {
  it('X2 a link names a step, two to compare, or the present, and a part', () => {
    expect(place('')).to.deep.equal({});
    expect(place('seq=6')).to.deep.equal({ seq: 6 });
    expect(place('seq=6&b=10&part=publication/worker-1')).to.deep.equal({
      seq: 6,
      b: 10,
      part: 'publication/worker-1',
    });
  });

  it('J3 of two compared steps the older one is always first', () => {
    expect(place('seq=10&b=6')).to.deep.equal({ seq: 6, b: 10 });
    expect(choiceOf(3, 9)).to.deep.equal({ seq: '3', b: '9' });
    expect(choiceOf(9, 3)).to.deep.equal({ seq: '3', b: '9' });
    expect(choiceOf(9, 9)).to.deep.equal({ seq: '9', b: null });
  });

  it('X2 what is no step in a link is left out', () => {
    for (const query of ['seq=0', 'seq=-1', 'seq=1e9', 'seq=x', 'b=4', 'seq=99999999999999999999'])
      expect(place(query), query).to.deep.equal({});
  });

  it('J3 steps lead back from the present to the first one, and on to the present', () => {
    const steps = [4, 5, 7];
    expect(stepped(steps, {}, -1)).to.deep.equal(choiceOf(5));
    expect(stepped(steps, {}, 1)).to.equal(undefined);
    expect(stepped(steps, { seq: 5 }, 1)).to.deep.equal(choiceOf(7));
    expect(stepped(steps, { seq: 7 }, 1)).to.deep.equal(present);
    expect(stepped(steps, { seq: 4 }, -1)).to.equal(undefined);
    expect(stepped([], {}, -1)).to.equal(undefined);
  });

  it('J3 while two steps are compared, the one that is not kept moves', () => {
    const steps = [4, 5, 7, 8];
    expect(stepped(steps, { seq: 7 }, -1, 7)).to.deep.equal(choiceOf(5, 7));
    expect(stepped(steps, { seq: 5, b: 7 }, -1, 7)).to.deep.equal(choiceOf(4, 7));
    expect(stepped(steps, { seq: 5, b: 7 }, 1, 5)).to.deep.equal(choiceOf(5, 8));
    expect(stepped(steps, { seq: 5, b: 8 }, 1, 5)).to.equal(undefined);
  });

  it('J3 a step that the history does not list counts as the one before it', () => {
    expect(stepped([4, 5, 7], { seq: 6 }, 1)).to.deep.equal(choiceOf(7));
  });
});
