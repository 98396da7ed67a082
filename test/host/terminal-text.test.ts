/** Texts of drivers and files on a terminal. */
import { expect } from 'chai';
import { firstLine, oneLine, plainJson, plainLines } from '../../src/host/terminal-text.js';

/** ESC, BEL, CR, CSI as one character, right-to-left override, zero-width joiner, byte order mark, a tag, a line separator. */
const steering = '\u001b[31m\u0007\r\u009b2J\u202e\u200d\ufeff\u{e0041}\u2028';

describe('text for a terminal', () => {
  it('34.14 no control and no format character is left, in one line or in several', () => {
    for (const clean of [oneLine, firstLine, plainLines, plainJson])
      expect(clean(`a${steering}b`), clean.name).not.to.match(/[^\P{C}\n\t]|[\p{Zl}\p{Zp}]/u);
    expect(plainLines(`a\tb\nc${steering}d`)).to.equal('a\tb\nc[31m2Jd');
    expect(oneLine('a\r\nb\u202ec')).to.equal('a bc');
  });

  it('34.14 JSON stays the same data', () => {
    for (const indent of [0, 2]) {
      const data = { [steering]: steering, more: ['\n\t', 'ä€😀'] };
      const text = plainJson(JSON.stringify(data, null, indent));
      expect(JSON.parse(text)).to.deep.equal(data);
      expect(text).to.contain('ä€😀');
    }
  });

  it('34 in one line of many a message of many lines is cut to its first, and says so', () => {
    expect(firstLine('mount failed: exit status 32\nMounting arguments: -t ext4\n')).to.equal(
      'mount failed: exit status 32 …',
    );
    expect(firstLine('\n  one line\n \n')).to.equal('  one line');
    expect(firstLine('')).to.equal('');
  });
});
