/**
 * Writes src/page/chart/layouts.json: the charts of all machines and of their parts, with positions. The same machines give the
 * same file. `--check` writes nothing and fails if the file is stale.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { charts } from '../machines/catalog.js';
import type { ChartLayout } from '../src/page/chart/layout.js';
import { layOut } from './charts/lay-out.js';
import { readChart } from './charts/read-chart.js';

const file = fileURLToPath(new URL('../src/page/chart/layouts.json', import.meta.url));
const layouts: ChartLayout[] = [];
for (const machine of charts.values()) layouts.push(await layOut(readChart(machine)));
const text = `[\n${layouts.map((layout) => JSON.stringify(layout)).join(',\n')}\n]\n`;

if (!process.argv.includes('--check')) writeFileSync(file, text);
else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  console.error('stale: src/page/chart/layouts.json: run npm run generate');
  process.exit(1);
}
