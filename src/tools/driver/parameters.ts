/** Parameters of volumes and snapshots: few, and unknown ones are refused. */
import { invalid } from './requests.js';

type Parameters = Readonly<Record<string, string>>;

/** Prefix of parameters with which Kubernetes tells drivers about its own objects. */
const ignoredPrefix = 'csi.storage.k8s.io/';

/** Share of the capacity (1 to 100, percent) above which a volume's condition is abnormal. Mutable. */
const warnAbovePercent = 'warnAbovePercent';

/** Mode of the root directory of a volume, as octal digits. */
const rootMode = 'rootMode';

/** @throws {CsiStatus} INVALID_ARGUMENT: unknown parameter of a snapshot */
export function checkParameters(parameters: Parameters): void {
  const unknown = Object.keys(parameters).find((key) => !key.startsWith(ignoredPrefix));
  if (unknown === undefined) return;
  const hint = unknown === warnAbovePercent ? 'it is a mutable parameter' : `only ${ignoredPrefix}* are, and ignored`;
  throw invalid(`the parameter ${JSON.stringify(unknown)} is not known: ${hint}`);
}

/** @throws {CsiStatus} INVALID_ARGUMENT: unknown parameter of a volume, or impossible value */
export function checkVolumeParameters({ [rootMode]: mode = '0755', ...others }: Parameters): void {
  checkParameters(others);
  // A set-user-id or set-group-id root would give its owner or group to what others make in it.
  if (!/^[01]?[0-7]{3}$/.test(mode))
    throw invalid(`${rootMode} must be a mode in octal digits, such as 0777 or 1777, not ${JSON.stringify(mode)}`);
}

/** @returns undefined without such a parameter */
export function rootModeOf({ [rootMode]: mode }: Parameters): number | undefined {
  return mode === undefined ? undefined : Number.parseInt(mode, 8);
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
