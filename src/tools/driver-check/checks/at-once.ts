/**
 * Equal calls at the same time. The specification wants them to have one effect; it recommends and does not demand
 * that drivers accept them.
 */
import type { UnaryRpc } from '../../../csi/server.js';
import type { Answer } from '../ask.js';
import type { CheckContext } from '../context.js';

/**
 * Call it last, after the effect of the calls was judged.
 * @throws {Verdict} warning: an answer other than OK and ABORTED
 */
export function warnUnlessBorne(bench: CheckContext, answers: readonly Answer<UnaryRpc>[]): void {
  const other = answers.find(({ code }) => code !== 'OK' && code !== 'ABORTED');
  if (other) bench.warn(`drivers should bear equal calls at once: OK or ABORTED; there came ${other.report.answer}`);
}
