/** The built page, read once: its files by their paths, with their types. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface PageFile {
  body: Buffer;
  type: string;
  /** Its name holds a hash of its content: it never changes. */
  isHashed: boolean;
}

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Files that are pages of their own. */
const places: Record<string, string> = { '/index.html': '/', '/bridge.html': '/bridge' };

/** Directory of the built page: `dist/page`. */
export const builtPage = fileURLToPath(new URL('../../page', import.meta.url));

/** Files by their URL paths; `/` is the page itself. Undefined: the page was not built. */
export function pageFiles(directory: string): Map<string, PageFile> | undefined {
  if (!existsSync(join(directory, 'index.html'))) return undefined;
  const files = new Map<string, PageFile>();
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const url = `/${relative(directory, path)}`;
    const type = types[extname(entry.name)] ?? 'application/octet-stream';
    files.set(places[url] ?? url, {
      body: readFileSync(path),
      type,
      isHashed: url.startsWith('/assets/'),
    });
  }
  return files;
}
