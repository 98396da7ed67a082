/** Rows of error-table.ts about volumes, snapshots, mounts, allocs and nodes. */
export const resourceErrors = {
  VOLUME_NOT_FOUND: {
    http: 404,
    when: 'there is no such volume, or the source of a new one is not created yet',
    todo: 'list them; create it',
  },
  VOLUME_EXISTS: {
    http: 409,
    when: 'there is one of that id with another spec, whose fields that differ are named; what a deleted one may have left was not acknowledged, or another volume has what is to be taken over',
    todo: 'take another id, or delete that one; `retry` or `acknowledge` what it has left',
  },
  OTHER_DRIVER: {
    http: 409,
    when: 'another driver is registered under the name of the plugin since a volume or snapshot was made; both are named, and no call was made',
    todo: 'register the first driver again, then `retry`; or, where the other has taken over what that made, `retry` with `acceptDriver`',
  },
  CSI_ID_TAKEN: {
    http: 502,
    when: 'a plugin answered the creation of a volume or snapshot with an id that another one here has; that one is named, and keeps it',
    todo: 'correct the plugin, then `retry`; or delete the new one, for which nothing is deleted at the plugin',
  },
  VOLUME_IN_USE: {
    http: 409,
    isRetryable: true,
    when: "the volume is published or claimed in another way, another volume or a snapshot is being made from it (or from the snapshot), or a node reports a claim that is not released; the message names the holder. Or another volume may have the id of an external one, as its record can't be read; it is named",
    todo: 'unpublish or release that first, or wait until the copy is made; a deletion also takes `force`; where it says that the request stands, it is published once that is unpublished. Repair a record that is named, then `actor release`',
  },
  VOLUME_UNPROVEN: {
    http: 502,
    when: 'three times the plugin did not say in time what became of copying a volume or restoring a snapshot, nor later that it has that content; what it made was removed',
    todo: 'raise `calls.timeoutMs`, then `retry`',
  },
  VOLUME_DELETING: {
    http: 409,
    when: 'it is being deleted',
    todo: 'wait until it is gone',
  },
  SNAPSHOT_NOT_FOUND: {
    http: 404,
    when: 'there is no such snapshot, or group of them',
    todo: 'list them; create it',
  },
  SNAPSHOT_EXISTS: {
    http: 409,
    when: 'there is one of that id with another spec, whose fields that differ are named; what a deleted one may have left was not acknowledged, or another volume has what is to be taken over',
    todo: 'take another id, or delete that one; `retry` or `acknowledge` what it has left',
  },
  SNAPSHOT_DELETING: {
    http: 409,
    when: 'it is being deleted',
    todo: 'wait until it is gone',
  },
  SNAPSHOT_NOT_READY: {
    http: 409,
    when: 'a volume was to begin with a snapshot that is not ready, or is being deleted; in the `error` of one that waits: the plugin says so',
    todo: 'wait until it is `ready`',
  },
  SNAPSHOT_UNPROVEN: {
    http: 502,
    when: 'three times the plugin did not say in time what became of making it; what it made was removed',
    todo: 'raise `calls.timeoutMs`, then `retry`',
  },
  NOTHING_LEFT: {
    http: 409,
    when: 'a volume or snapshot is not deleted, or nothing of it was left: there is nothing to acknowledge',
    todo: 'nothing; to be rid of it, delete it',
  },
  VOLUME_UNAVAILABLE: {
    http: 409,
    when: 'its availability is `pause` or `drain`',
    todo: 'set it to `active`',
  },
  VOLUME_ELSEWHERE: {
    http: 409,
    isRetryable: true,
    when: 'the volume or snapshot is on another host, whose agent alone can call the plugin for it; the message names that node',
    todo: 'ask again once the agent of that node is back; where that host is gone for good, delete it with force. See [volumes on one host](volumes.md#volumes-on-one-host)',
  },
  MOUNT_ELSEWHERE: {
    http: 409,
    isRetryable: true,
    when: 'the volume was mounted on this node by an agent with another data directory, or on another host, which this agent has replaced under the same nodeId; it may be mounted there still',
    todo: 'start that agent again in place of this one, and release it there; or make sure that nothing there uses it, then fence the node. See [several hosts](several-hosts.md#a-second-agent-with-the-same-nodeid)',
  },
  VOLUME_NOT_CONFIRMED: {
    http: 409,
    when: 'the plugin does not know an `external` volume as it was described; the message has its words',
    todo: 'correct the spec',
  },
  CLAIM_CONFLICT: {
    http: 409,
    isRetryable: true,
    when: 'another alloc has the claim or the mount, or waits for it before you, or the volume is published, staged or mounted there in another way; or the alloc has other volumes than are asked for. The message names the holder, or what differs',
    todo: 'release or unpublish that; claim with `wait`; ask for the mode that it is published in',
  },
  ALLOC_NOT_FOUND: {
    http: 404,
    when: 'there is no alloc of that id on this node',
    todo: 'list them; prepare it',
  },
  MOUNT_NOT_FOUND: {
    http: 404,
    when: 'that volume is not mounted on this node',
    todo: 'list what is; prepare an alloc that has it',
  },
  MOUNT_MISSING: {
    http: 502,
    when: 'the plugin says that it has published a volume, and the kernel shows nothing at its path; or it was unmounted from where it was staged, and is staged again',
    todo: 'see that its process runs where its mounts are seen here, [mounts.md](mounts.md#plugins-and-workloads-in-containers); it is tried again',
  },
  MOUNT_STAYS: {
    http: 502,
    when: "the plugin says that a volume is unpublished or unstaged, and the kernel still shows it at its path; something else is mounted over it, or over a directory on the way; what is mounted where it is staged is dead, so that nothing is staged over that, or is kept from being unstaged by who has a mount that answers; a volume is staged, and the plugin that is there now does not offer to unstage; or an orphaned mount can't be unmounted",
    todo: 'see what the message names; of a volume it is tried again until it is so, and until then its claim stays',
  },
  MOUNT_NOT_AS_ASKED: {
    http: 502,
    when: 'a volume is writable that was to be read-only, or has turned read-only and was to be written to; a directory, or a file, is in place of a block device, or a file or device in place of a directory; or the plugin has mounted an empty directory or another volume in its place. It was taken away again',
    todo: 'as the message says: where it was to be read-only, mount it for writing, or take another plugin; else see that the plugin sees what is mounted where the volume is staged, or, where nothing is, release all that use the volume here, so that it is unstaged, then ask again',
  },
  CLAIM_LOST: {
    http: 409,
    when: '(of an alloc) its claim was lost: the node was fenced while its agent was away or could not be reached, or the claim was released by hand. Others may use the volume by now. It is unmounted here',
    todo: 'see that its workload has ended; release the alloc, then prepare it again',
  },
  NODE_NOT_FOUND: {
    http: 404,
    isRetryable: true,
    when: 'that node has not reported, or was removed',
    todo: 'list them; see that its agent runs',
  },
  NODE_EXISTS: {
    http: 409,
    when: 'a node reports a name that its plugin has given to another one, e.g. its host before it was renamed',
    todo: 'remove that node, if it is the same host; else see what the plugin says on both',
  },
  NODE_REPORTED: {
    http: 409,
    when: 'a report of a node that its own agent reports, with something else than that agent says',
    todo: 'change the plugins of that host; where its agent is gone for good, remove the node first',
  },
  NODE_NOT_READY: {
    http: 409,
    isRetryable: true,
    when: 'the node is down',
    todo: 'wait until it reports, as its agent does when it is started, or take another one',
  },
  NODE_UNFIT: {
    http: 409,
    isRetryable: true,
    when: "the node lacks the plugin, or the volume can't be used where it is",
    todo: 'take another node, or run the plugin there',
  },
  NODE_FULL: {
    http: 409,
    isRetryable: true,
    when: 'its plugin takes no more volumes on that node',
    todo: 'unpublish one there, or take another node',
  },
} as const;
