/** Finds the place of a value in a YAML file. */
import { type Document, isMap, isNode, isScalar } from 'yaml';

/** @returns offset of the value's key, of the value, or of the nearest value that encloses it */
export function offsetOf(document: Document, path: PropertyKey[]): number | undefined {
  for (let depth = path.length; depth > 0; depth -= 1) {
    const parent = document.getIn(path.slice(0, depth - 1), true);
    const key = path[depth - 1];
    const pair = isMap(parent) ? parent.items.find((item) => isScalar(item.key) && item.key.value === key) : undefined;
    const found = pair?.key ?? document.getIn(path.slice(0, depth), true);
    if (isNode(found) && found.range) return found.range[0];
  }
  return undefined;
}
