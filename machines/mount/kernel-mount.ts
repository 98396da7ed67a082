/** What the kernel shows of a mount. */
/** What the kernel shows at a path: tells our mount from another one there. */
export interface KernelMount {
  /** `major:minor` */
  device: string;
  /** Path within the file system. */
  root: string;
  /** E.g. `ext4`. Absent in what was stored before this was kept. */
  fsType?: string;
  /** What it is mounted from, as its file system names it, e.g. `server:/export`. Absent in what was stored before this was kept. */
  origin?: string;
}

/** Mount that a path shows since a call whose answer is not known; nothing was mounted there before that call. */
export interface AppearedMount extends KernelMount {
  /** The boot of the host in which it was seen. */
  bootId: string;
}
