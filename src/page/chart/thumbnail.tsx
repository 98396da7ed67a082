/** Map of a chart: its outer boxes only, the one that is lit in colour. */
import type { Health } from '../../api/actor-routes.js';
import type { ChartLayout } from './layout.js';
import { isWithinState } from './lit.js';

export function Thumbnail({ layout, now, health }: { layout: ChartLayout; now: string; health: Health }) {
  const boxes = layout.states.filter(({ path, kind }) => !path.includes('.') && kind !== 'start');
  return (
    <svg class={`chart-thumbnail health-${health}`} viewBox={`0 0 ${layout.width} ${layout.height}`} aria-hidden="true">
      {boxes.map(({ path, x, y, width, height }) => (
        <rect key={path} class={isWithinState(now, path) ? 'on' : ''} {...{ x, y, width, height }} rx="14" />
      ))}
    </svg>
  );
}
