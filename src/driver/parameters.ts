/** What a volume or snapshot can be given besides what CSI names: almost nothing, and nothing else is swallowed. */
import { invalid } from './requests.js';

type Parameters = Readonly<Record<string, string>>;

/** Told to drivers by Kubernetes about its own objects. */
const ignoredPrefix = 'csi.storage.k8s.io/';

/** The share of its capacity (1 to 100, percent) above which a volume's condition is abnormal. Can be changed. */
const warnAbovePercent = 'warnAbovePercent';

/** @throws {CsiStatus} INVALID_ARGUMENT: one that is not known */
export function checkParameters(parameters: Parameters): void {
  const unknown = Object.keys(parameters).find((key) => !key.startsWith(ignoredPrefix));
  if (unknown === undefined) return;
  const hint = unknown === warnAbovePercent ? 'it is a mutable parameter' : `only ${ignoredPrefix}* are, and ignored`;
  throw invalid(`the parameter ${JSON.stringify(unknown)} is not known: ${hint}`);
}

/** @throws {CsiStatus} INVALID_ARGUMENT: one that is not known, or its value can't be */
export function checkMutableParameters(parameters: Parameters): void {
  for (const [key, value] of Object.entries(parameters)) {
    if (key !== warnAbovePercent)
      throw invalid(`the mutable parameter ${JSON.stringify(key)} is not known: there is ${warnAbovePercent}`);
    if (!/^(?:[1-9]\d?|100)$/.test(value))
      throw invalid(`${warnAbovePercent} must be a whole number from 1 to 100, not ${JSON.stringify(value)}`);
  }
}

/** @returns undefined where nobody wants to be warned */
export function warnAboveShareOf(parameters: Parameters): number | undefined {
  const percent = parameters[warnAbovePercent];
  return percent === undefined ? undefined : Number(percent) / 100;
}

export function sameParameters(some: Parameters, others: Parameters): boolean {
  const keys = Object.keys(some);
  return keys.length === Object.keys(others).length && keys.every((key) => some[key] === others[key]);
}
