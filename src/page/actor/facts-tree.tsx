/** Draws the context of an actor as a tree; what differs from the other moment is marked and unfolded. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type FactChange, type FactRow, factRows } from './facts.js';
import { Glyph } from './glyphs.js';

export function FactsTree({ value, changes }: { value: object | undefined; changes: ReadonlyMap<string, FactChange> }) {
  const [opened, open] = useState<ReadonlyMap<string, boolean>>(new Map());
  const rows = useMemo(() => factRows(value, changes, opened), [value, changes, opened]);
  const tree = useRef<HTMLUListElement>(null);
  useEffect(() => showFirstChange(tree.current), [changes]);
  if (rows.length === 0) return <p class="note">It knows nothing: it is not there.</p>;
  return (
    <ul class="facts-tree" ref={tree}>
      {rows.map((row) => (
        <Fact
          key={`${row.mark === 'removed' ? '-' : ''}${row.path}`}
          row={row}
          toggle={() => open(new Map(opened).set(row.path, !row.branch?.isOpen))}
        />
      ))}
    </ul>
  );
}

function Fact({ row, toggle }: { row: FactRow; toggle: () => void }) {
  const { key, depth, text, was, mark, branch } = row;
  return (
    <li class={`fact ${mark ?? ''}`} style={{ '--depth': depth }}>
      {branch ? (
        <button type="button" class="key" aria-expanded={branch.isOpen} onClick={toggle}>
          <Glyph name="open" size={12} />
          {key}
        </button>
      ) : (
        <span class="key leaf">{key}</span>
      )}
      <span class={`value${branch ? ' quiet' : ''}`}>
        {was !== undefined && <del>{was}</del>} {mark ? <ins>{mark === 'removed' ? 'removed' : text}</ins> : text}
      </span>
      {branch && !branch.isOpen && branch.changes > 0 && <span class="count">{branch.changes} changed</span>}
    </li>
  );
}

function showFirstChange(tree: HTMLElement | null): void {
  const change = tree?.querySelector<HTMLElement>('.added, .changed, .removed');
  if (tree && change) tree.scrollTop = Math.max(0, change.offsetTop - tree.clientHeight / 2);
}
