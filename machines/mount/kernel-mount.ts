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
  /** Whether the mount could be written to. Absent: no, or the record is of an older version. */
  isWritable?: true;
  /** Disk of the block device that is mounted. Absent: no device, or the kernel does not number its disks. */
  disk?: Disk;
}

/** A disk as the kernel knows it. */
export interface Disk {
  /** `major:minor`; one that is free is given to another disk. */
  device: string;
  /** Number of the disk since the boot: never given again. */
  number: string;
}

/** Mount that a path shows since a call with an unknown answer. Nothing was mounted there before the call. */
export interface AppearedMount extends KernelMount {
  /** Boot of the host in which the mount was seen. */
  bootId: string;
}
