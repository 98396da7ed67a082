/** Colours of the page can be read: their contrast, light and dark, as the tokens have them. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';

const css = readFileSync(new URL('../../src/page/styles/tokens.css', import.meta.url), 'utf8');

/** Tokens of a theme, those of dark over those of light. */
function tokens(theme: 'light' | 'dark'): Map<string, string> {
  const blocks = theme === 'dark' ? [/:root \{([^}]*)\}/, /data-theme="dark"\] \{([^}]*)\}/] : [/:root \{([^}]*)\}/];
  return new Map(
    blocks.flatMap((block) =>
      [...(block.exec(css)?.[1] ?? '').matchAll(/--([\w-]+): ([^;]+);/g)].map(
        ([, name = '', value = '']): [string, string] => [name, value],
      ),
    ),
  );
}

const channels = (color: string): number[] => [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255);

/** Relative luminance, as WCAG 2 defines it. */
function luminance(rgb: number[]): number {
  const [r = 0, g = 0, b = 0] = rgb.map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one: number[], other: number[]): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

const healths = ['healthy', 'working', 'waiting', 'in-doubt', 'failed', 'gone', 'unknown'];

describe('contrast of the page', () => {
  for (const [theme, least] of [
    ['light', 4.8],
    ['dark', 5.6],
  ] as const) {
    const known = tokens(theme);
    const color = (name: string): number[] => channels(known.get(name) ?? '');

    it(`X2 ${theme}: text on every grey at least ${least}:1`, () => {
      for (const text of ['ink', 'muted', 'faint'])
        for (const ground of ['bg', 'surface', 'sunk', 'hover'])
          expect(contrast(color(text), color(ground)), `${text} on ${ground}`).to.be.at.least(least);
      expect(contrast(color('on-inv'), color('inv')), 'the bar of the past').to.be.at.least(least);
    });

    it(`X2 ${theme}: the word of each state on its own tint at least 4.8:1`, () => {
      const share = Number.parseFloat(known.get('tint') ?? '') / 100;
      for (const health of healths) {
        const own = color(health);
        const ground = color('surface').map((c, i) => c * (1 - share) + (own[i] ?? 0) * share);
        expect(contrast(own, ground), health).to.be.at.least(4.8);
      }
    });
  }
});
