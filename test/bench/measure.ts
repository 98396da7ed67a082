/** Measures by turns: each round runs every contender once, so that drift of the machine hits all alike. */

export interface Contender {
  name: string;
  /** Does the work and resolves with how many units were done, and how long that took where it was elsewhere. */
  run(): Promise<number | { units: number; ms: number }>;
}

interface Measured {
  name: string;
  /** Units per second: the median of the rounds. */
  rate: number;
  /** Against the first contender of the same round: the median. */
  ratio: number;
}

export const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** @param rounds counted ones; one more before them is not counted */
export async function byTurns(contenders: Contender[], rounds = 5): Promise<Measured[]> {
  const rates = contenders.map((): number[] => []);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [index, { run }] of contenders.entries()) {
      globalThis.gc?.();
      const start = performance.now();
      const done = await run();
      const { units, ms } = typeof done === 'number' ? { units: done, ms: performance.now() - start } : done;
      const rate = units / (ms / 1_000);
      if (round > 0) rates[index]?.push(rate);
    }
  }
  return contenders.map(({ name }, index) => ({
    name,
    rate: median(rates[index] ?? []),
    ratio: median((rates[index] ?? []).map((rate, round) => rate / (rates[0]?.[round] ?? Number.NaN))),
  }));
}

export function report(title: string, unit: string, results: Measured[]): void {
  console.log(`\n${title}`);
  for (const { name, rate, ratio } of results) {
    const shown = rate < 100 ? rate.toFixed(2) : Math.round(rate).toLocaleString('en');
    console.log(`  ${name.padEnd(52)} ${shown.padStart(12)} ${unit}  ${ratio.toFixed(2).padStart(5)} of the first`);
  }
}
