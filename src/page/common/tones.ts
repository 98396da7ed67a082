/** Health whose colour and shape a step of a history has. */
import type { Health } from '../../api/actor-routes.js';
import type { HistoryTone } from '../../journal/history.js';

export const healthOfTone: Record<HistoryTone, Health | undefined> = {
  plain: undefined,
  done: 'healthy',
  waiting: 'waiting',
  'in-doubt': 'in-doubt',
  failed: 'failed',
};
