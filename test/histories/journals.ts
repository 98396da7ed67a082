/** Recorded journals: several exported files in one, each from the line that begins it to the line that ends it. */
import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** @param version of the volume machine that ran */
export const journalsFile = (version: string): URL => new URL(`${version}/journals.ndjson.gz`, import.meta.url);

/** Versions that journals were recorded of. */
export const journalVersions = (): string[] =>
  readdirSync(new URL('.', import.meta.url), { recursive: true, encoding: 'utf8' }).flatMap((path) => {
    const [version = '', file] = path.split('/');
    return file === 'journals.ndjson.gz' ? [version] : [];
  });

/** Texts of the journals of a version, each as it was exported. */
export const journalsOf = (version: string): string[] =>
  gunzipSync(readFileSync(journalsFile(version)))
    .toString()
    .split(/^(?=\{"format":)/m);
