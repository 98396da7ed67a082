/** Parameters of volumes and snapshots besides those of CSI: almost none, and unknown ones are refused. */
import { invalid } from './requests.js';

type Parameters = Readonly<Record<string, string>>;

/** Prefix of parameters with which Kubernetes tells drivers about its own objects. */
const ignoredPrefix = 'csi.storage.k8s.io/';

/** Share of the capacity (1 to 100, percent) above which a volume's condition is abnormal. Mutable. */
const warnAbovePercent = 'warnAbovePercent';

/** @throws {CsiStatus} INVALID_ARGUMENT: unknown parameter */
export function checkParameters(parameters: Parameters): void {
  const unknown = Object.keys(parameters).find((key) => !key.startsWith(ignoredPrefix));
  if (unknown === undefined) return;
  const hint = unknown === warnAbovePercent ? 'it is a mutable parameter' : `only ${ignoredPrefix}* are, and ignored`;
  throw invalid(`the parameter ${JSON.stringify(unknown)} is not known: ${hint}`);
}

/** @throws {CsiStatus} INVALID_ARGUMENT: unknown parameter, or impossible value */
export function checkMutableParameters(parameters: Parameters): void {
  for (const [key, value] of Object.entries(parameters)) {
    if (key !== warnAbovePercent)
      throw invalid(`the mutable parameter ${JSON.stringify(key)} is not known: there is ${warnAbovePercent}`);
    if (!/^(?:[1-9]\d?|100)$/.test(value))
      throw invalid(`${warnAbovePercent} must be a whole number from 1 to 100, not ${JSON.stringify(value)}`);
  }
}

/** @returns undefined without such a parameter */
export function warnAboveShareOf(parameters: Parameters): number | undefined {
  const percent = parameters[warnAbovePercent];
  return percent === undefined ? undefined : Number(percent) / 100;
}

export function sameParameters(some: Parameters, others: Parameters): boolean {
  const keys = Object.keys(some);
  return keys.length === Object.keys(others).length && keys.every((key) => some[key] === others[key]);
}
