/** Line icons of the frame. */

const paths = {
  overview: 'M2 2.5h5v5H2zM9 2.5h5v3H9zM9 8h5v5.5H9zM2 10h5v3.5H2z',
  log: 'M2.5 4h11M2.5 8h11M2.5 12h7',
  timeline: 'M2.5 4h6M5 8h8.500M4 12h4',
  plugin: 'M6 2v3M10 2v3M4 5h8v3a4 4 0 0 1-8 0zM8 12v2',
  task: 'M2.5 3h11v10h-11zM5 6.5l2 1.7-2 1.7M8.5 10.5H11',
  volume: 'M3 4c0-1.1 2.2-2 5-2s5 .9 5 2-2.2 2-5 2-5-.9-5-2v8c0 1.1 2.2 2 5 2s5-.9 5-2V4M3 8c0 1.1 2.2 2 5 2s5-.9 5-2',
  snapshot: 'M2.5 5h2.6l1-2h3.8l1 2h2.6v8h-11zM8 11a2.2 2.2 0 1 0 0-4.4A2.2 2.2 0 0 0 8 11',
  mount: 'M8 2v8M5 7l3 3 3-3M3 13h10',
  node: 'M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01',
  alloc: 'M8 2l5.5 3v6L8 14l-5.5-3V5zM2.5 5L8 8l5.5-3M8 8v6',
  other: 'M3 3h4v4H3zM9 3h4v4H9zM3 9h4v4H3zM9 9h4v4H9z',
  find: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9M10.5 10.5 14 14',
  sun: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6M8 1.5V3M8 13v1.5M1.500 8H3M13 8h1.500M3.400 3.400l1 1M11.600 11.600l1 1M3.400 12.600l1-1M11.600 4.400l1-1',
  moon: 'M13 9.500A5.500 5.500 0 0 1 6.500 3 5.500 5.500 0 1 0 13 9.500',
  copy: 'M5.500 5.500h8v8h-8zM10.500 5.500V3a1 1 0 0 0-1-1H3.500a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h2',
  tick: 'M3.500 8.500l3 3 6-7',
  close: 'M4 4l8 8M12 4l-8 8',
  hold: 'M5.500 3.500v9M10.500 3.500v9',
  go: 'M5 3.500l7 4.500-7 4.500z',
  chevron: 'M6 4l4 4-4 4',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
