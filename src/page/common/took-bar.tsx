/** How long a call took, as a bar beside the number; none where it would be too short to be seen. */
import type { Health } from '../../api/actor-routes.js';

const leastWidth = 3;

interface TookBarProps {
  health: Health;
  /** Part of the longest one, 0 to 1. */
  share: number;
  /** Width of the longest one, in pixels. */
  most: number;
}

export const TookBar = ({ health, share, most }: TookBarProps) =>
  share * most < leastWidth ? null : <i class={`took-bar health-${health}`} style={{ width: `${share * most}px` }} />;
