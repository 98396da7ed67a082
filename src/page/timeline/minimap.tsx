/** All calls of a timeline at a glance, with the part that is shown: to drag chooses another part. */
import { useRef } from 'preact/hooks';
import type { callsIn, TimelineModel } from './model.js';
import { moved, type Zoom } from './scale.js';

interface MinimapProps {
  model: TimelineModel;
  calls: ReturnType<typeof callsIn>;
  zoom: Zoom;
  onZoom: (zoom: Zoom) => void;
  x: (at: number) => number;
  width: number;
}

const height = 30;
/** A shorter drag only moves what is shown, as a share of the width. */
const leastDrag = 0.01;

export function Minimap({ model, calls, zoom, onZoom, x, width }: MinimapProps) {
  const begun = useRef<number | undefined>(undefined);
  const shareAt = ({ clientX, currentTarget }: PointerEvent): number => {
    const box = (currentTarget as Element).getBoundingClientRect();
    return Math.max(0, Math.min(1, (clientX - box.left) / box.width));
  };
  const onMove = (event: PointerEvent): void => {
    if (begun.current === undefined || event.buttons !== 1) return;
    const at = shareAt(event);
    if (Math.abs(at - begun.current) < leastDrag) return;
    onZoom({ from: Math.min(at, begun.current), to: Math.max(at, begun.current) });
  };
  const onDown = (event: PointerEvent): void => {
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
    const at = shareAt(event);
    begun.current = at;
    const size = zoom.to - zoom.from;
    if (size < 1) onZoom(moved({ from: at - size / 2, to: at + size / 2 }));
  };
  const [left, right] = [zoom.from * width, zoom.to * width];
  return (
    <div class="minimap">
      <svg
        {...{ width, height }}
        viewBox={`0 0 ${width} ${height}`}
        aria-hidden="true"
        onPointerDown={onDown}
        onPointerMove={onMove}
      >
        {calls.map((call) => (
          <rect
            key={`${call.address} ${call.seq} ${call.from}`}
            class={`health-${call.health}`}
            x={x(call.from)}
            y="6"
            width={Math.max(2, x(call.to) - x(call.from))}
            height="12"
            rx="2"
          />
        ))}
        <path class="ticks" d={model.steps.map(({ at }) => `M${Math.round(x(at))} 21v4`).join('')} />
        <rect class="outside" width={left} height={height} />
        <rect class="outside" x={right} width={Math.max(0, width - right)} height={height} />
        <rect class="brush" x={left + 0.5} y="0.5" width={Math.max(6, right - left - 1)} height={height - 1} rx="4" />
      </svg>
    </div>
  );
}
