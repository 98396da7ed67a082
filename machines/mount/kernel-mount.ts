/** A mount as the kernel shows it at a path: tells our mount from another one. */
export interface KernelMount {
  /** `major:minor` */
  device: string;
  /** Path within the file system. */
  root: string;
  /** E.g. `ext4`. Absent in records of older versions. */
  fsType?: string;
  /** Source of the mount as its file system names it, e.g. `server:/export`. Absent in records of older versions. */
  origin?: string;
}

/** Mount that a path shows since a call with an unknown answer. Nothing was mounted there before the call. */
export interface AppearedMount extends KernelMount {
  /** Boot of the host in which the mount was seen. */
  bootId: string;
}
