/** A long list of rows of one height: only those in view are in the document. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/** Rows beyond each edge of the view. */
const margin = 6;

interface VirtualListProps {
  count: number;
  /** Height of a row, in pixels. */
  rowHeight: number;
  row(index: number): ComponentChildren;
  name: string;
  /** Row that is kept in view when it changes. */
  current?: number | undefined;
  /** Shown in place of no rows. */
  empty: ComponentChildren;
  onScroll?(top: number): void;
}

export function VirtualList({ count, rowHeight, row, name, current, empty, onScroll }: VirtualListProps) {
  const room = useRef<HTMLDivElement>(null);
  const [{ top, height }, look] = useState({ top: 0, height: 800 });
  useEffect(() => {
    const element = room.current;
    if (!element) return undefined;
    const measure = new ResizeObserver(() => look((seen) => ({ ...seen, height: element.clientHeight })));
    measure.observe(element);
    return () => measure.disconnect();
  }, []);
  useEffect(() => {
    const element = room.current;
    if (!element || current === undefined) return;
    const at = current * rowHeight;
    if (at < element.scrollTop) element.scrollTop = at;
    else if (at + rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = at + rowHeight - element.clientHeight;
  }, [current, rowHeight]);
  const first = Math.max(0, Math.floor(top / rowHeight) - margin);
  const last = Math.min(count, Math.ceil((top + height) / rowHeight) + margin);
  const scrolled = (): void => {
    const to = room.current?.scrollTop ?? 0;
    look((seen) => ({ ...seen, top: to }));
    onScroll?.(to);
  };
  return (
    <div class="virtual" ref={room} onScroll={scrolled} role="list" aria-label={name}>
      {count === 0 ? (
        empty
      ) : (
        <div class="virtual-rows" style={{ height: `${count * rowHeight}px` }}>
          {Array.from({ length: Math.max(0, last - first) }, (_, offset) => {
            const index = first + offset;
            return (
              <div
                key={index}
                class="virtual-row"
                role="listitem"
                aria-setsize={count}
                aria-posinset={index + 1}
                style={{ top: `${index * rowHeight}px`, height: `${rowHeight}px` }}
              >
                {row(index)}
              </div>
            );
          })}
        </div>
      )}
    </div>
  );
}
