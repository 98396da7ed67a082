/** Small pictures of the actor view: sources of inputs, and the buttons of time. */
import type { ComponentChildren } from 'preact';

const Picture = ({ size = 16, children }: { size?: number; children: ComponentChildren }) => (
  <svg
    class="glyph"
    width={size}
    height={size}
    viewBox="0 0 16 16"
    fill="none"
    stroke="currentColor"
    stroke-width="1.4"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
  >
    {children}
  </svg>
);

const pictures = {
  previous: <path d="M10 3.5L5.5 8l4.5 4.5" />,
  next: <path d="M6 3.5L10.5 8 6 12.5" />,
  first: <path d="M11.5 3.5L7 8l4.5 4.5M4.5 3.5v9" />,
  last: <path d="M4.5 3.5L9 8l-4.5 4.500M11.5 3.500v9" />,
  play: <path d="M5 3l8 5-8 5z" fill="currentColor" />,
  pause: <path d="M5.5 3.500v9M10.5 3.500v9" stroke-width="2.2" />,
  compare: <path d="M5 3v10M11 3v10M2.5 8h2.500M11 8h2.5" />,
  fork: <path d="M4 2v12M4 6c0 3 8 1 8 5v3" />,
  open: <path d="M6 4l4 4-4 4" />,
  link: (
    <path d="M7 9a2.5 2.5 0 0 0 3.6 0l2.2-2.200a2.5 2.5 0 0 0-3.6-3.600L8.4 4M9 7a2.5 2.5 0 0 0-3.6 0L3.2 9.200a2.5 2.5 0 0 0 3.6 3.600L7.6 12" />
  ),
  copy: (
    <>
      <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
      <path d="M10.5 5.500V4A1.5 1.5 0 0 0 9 2.500H4A1.5 1.5 0 0 0 2.5 4v5A1.5 1.5 0 0 0 4 10.500h1.5" />
    </>
  ),
  close: <path d="M4 4l8 8M12 4l-8 8" />,
  clock: (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <path d="M8 5v3l2 2" />
    </>
  ),
  caller: (
    <>
      <circle cx="8" cy="5.5" r="2.5" />
      <path d="M3.5 13.500c.5-3 2.3-4 4.5-4s4 1 4.5 4" />
    </>
  ),
  timer: (
    <>
      <circle cx="8" cy="9" r="5" />
      <path d="M8 6.500V9l1.5 1M6.5 2h3" />
    </>
  ),
  engine: (
    <>
      <circle cx="8" cy="8" r="2.2" />
      <path d="M8 2v2M8 12v2M2 8h2M12 8h2M3.8 3.800l1.4 1.400M10.8 10.800l1.4 1.400M3.8 12.200l1.4-1.400M10.8 5.200l1.4-1.4" />
    </>
  ),
  effect: <path d="M2.5 8h9M8.5 4.500L12 8l-3.5 3.5" />,
  message: <path d="M2.5 4h11v7.500H7l-3 2.500v-2.500H2.500z" />,
};

type GlyphName = keyof typeof pictures;

export const Glyph = ({ name, size = 16 }: { name: GlyphName; size?: number }) => (
  <Picture size={size}>{pictures[name]}</Picture>
);

/** Picture of the sender of an input, by `from` of its line. */
export function glyphOf(from: string): GlyphName {
  if (from === 'caller' || from === 'timer' || from === 'engine' || from === 'effect') return from;
  return from.includes('/') ? 'message' : 'effect';
}
