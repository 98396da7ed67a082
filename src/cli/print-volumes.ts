/** Tables and details of volumes and nodes, for people. */
import { describePublication, describeWork } from '../agent/describe-parts.js';
import { describeAllLeaving, describeLeftovers, sizeText } from '../agent/describe-volumes.js';
import type { OrphansReport, VolumeReport } from '../api/volume-routes.js';
import { oneLine } from '../host/terminal-text.js';
import { factsTable, segmentsOf, table } from './print.js';

const placesOf = ({ publications }: VolumeReport): string =>
  Object.entries(publications)
    .map(([nodeId, { state }]) => (state === 'published' ? nodeId : `${nodeId} (${state})`))
    .join(', ') || '-';

const troubleOf = ({ error, missing, condition, leftovers, expansion, modification, claims }: VolumeReport): string =>
  error?.message ??
  (expansion?.failed && `its expansion failed: ${expansion.message}`) ??
  (modification?.failed && `its modification failed: ${modification.message}`) ??
  (missing ? 'its plugin does not list it' : undefined) ??
  (condition?.abnormal ? condition.message : undefined) ??
  (leftovers && describeLeftovers(leftovers).join('; ')) ??
  describeAllLeaving(claims) ??
  '';

export const volumeTable = (volumes: VolumeReport[], maxChars?: number): string =>
  table(
    ['NAMESPACE', 'ID', 'PLUGIN', 'STATE', 'SIZE', 'NODES', 'CLAIMS', 'TROUBLE'],
    volumes.map((volume) => [
      volume.key.namespace,
      volume.key.id,
      volume.plugin,
      volume.state,
      sizeText(volume.capacityBytes),
      placesOf(volume),
      String(volume.claims.length),
      troubleOf(volume),
    ]),
    maxChars,
  );

export function volumeDetails(volume: VolumeReport): string {
  const { key, plugin, state, csiId, capacityBytes, capabilities, availability, error, condition } = volume;
  const { expansion, modification, leftovers = [], publications, parts, claims, waiting } = volume;
  const facts: [string, string | undefined][] = [
    ['volume', `${key.namespace}/${key.id}`],
    ['plugin', plugin],
    ['driver', volume.driver],
    ['state', error ? `${state}: ${error.message}` : state],
    ['step', describeWork(parts, 'lifecycle', Date.now()) || undefined],
    ['to be deleted', volume.deleting && state !== 'pending-delete' ? 'after the current step' : undefined],
    ['availability', availability],
    ['taken over', volume.external && 'deleting it keeps its content'],
    ['found', volume.origin === 'found' ? 'its plugin made nothing: deleting it keeps its content' : undefined],
    ['copy of', volume.source && sourceText(volume.source)],
    ['csi id', csiId ?? (leftovers.length > 0 ? undefined : 'not created yet')],
    ['name at plugin', volume.name],
    ['home', volume.home && `node ${volume.home}: only the plugin there is called for it`],
    ['asked for at', volume.topology && topologyText(volume.topology)],
    ['can be used at', volume.accessibleTopology?.map(segmentsOf).join(' or ')],
    ['size', capacityBytes === undefined ? 'not known' : sizeText(capacityBytes)],
    ['requested', volume.requested && rangeText(volume.requested)],
    ['parameters', pairsText({ ...volume.parameters, ...volume.mutableParameters })],
    ['secrets', volume.secrets.join(', ') || undefined],
    ...capabilities.map((capability): [string, string] => ['capability', modesOf(capability)]),
    ['expansion', expansion && (describeWork(parts, 'expansion', Date.now()) || changeText(expansion))],
    ['file system', volume.nodeExpansionRequired ? expansionDue(Object.keys(publications)) : undefined],
    [
      'change',
      modification &&
        `${pairsText(modification.mutableParameters)}, ${describeWork(parts, 'modification', Date.now()) || changeText(modification)}`,
    ],
    ['condition', condition && `${condition.abnormal ? 'abnormal' : 'normal'}: ${condition.message}`],
    ['missing', volume.missing && 'its plugin does not list it'],
    [
      'attached elsewhere',
      volume.attachedElsewhere && `to ${volume.attachedElsewhere.join(', ')}, not among the nodes here`,
    ],
    ...describeLeftovers(leftovers).map((one): [string, string] => ['left behind', one]),
  ];
  const known = facts.flatMap(([name, value]): [string, string][] => (value === undefined ? [] : [[name, value]]));
  const rows = Object.entries(publications).map(([nodeId, { state: on, csiNodeId, capability, readOnly }]) => [
    nodeId,
    on,
    csiNodeId,
    `${capability.accessMode}${readOnly ? ', read-only' : ''}`,
    describePublication(parts, nodeId, Date.now()),
  ]);
  const users = [
    ...claims.map(({ allocId, nodeId, mode, state: how }) => [allocId, nodeId, mode, how]),
    ...waiting.map(({ allocId, nodeId, mode }) => [allocId, nodeId, mode, 'waiting']),
  ];
  return [
    factsTable(known),
    ...(rows.length > 0 ? [table(['NODE', 'STATE', 'CSI NODE', 'ACCESS', 'STEP'], rows)] : []),
    ...(users.length > 0 ? [table(['CLAIMED BY', 'NODE', 'MODE', 'STATE'], users)] : []),
  ].join('\n\n');
}

const sourceText = (source: NonNullable<VolumeReport['source']>): string =>
  'volume' in source ? `volume ${source.volume.namespace}/${source.volume.id}` : `snapshot ${source.volumeSnapshot}`;

const rangeText = ({ requiredBytes, limitBytes }: NonNullable<VolumeReport['requested']>): string =>
  [
    ...(requiredBytes === undefined ? [] : [`at least ${sizeText(requiredBytes)}`]),
    ...(limitBytes === undefined ? [] : [`at most ${sizeText(limitBytes)}`]),
  ].join(', ');

const changeText = ({ failed, message }: { failed?: true; message?: string }): string =>
  `${failed ? 'failed' : 'under way'}${message === undefined ? '' : `: ${message}`}`;

function topologyText({ requisite, preferred }: NonNullable<VolumeReport['topology']>): string {
  const [first] = preferred;
  const all = requisite.map(segmentsOf).join(' or ');
  if (!first) return all;
  return requisite.length === 1 ? all : `${all || 'anywhere'}, first ${segmentsOf(first)}`;
}

const expansionDue = (nodes: string[]): string =>
  nodes.length === 0
    ? 'expanded by the next node that mounts it'
    : `to be expanded by its node: see stagecraft mount list on ${nodes.join(', ')}`;

/** Formats pairs as `key=value`; undefined if there are none. */
const pairsText = (pairs: Record<string, string>): string | undefined =>
  Object.entries(pairs)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ') || undefined;

const modesOf = ({ accessMode, attachmentMode, fsType, mountFlags }: VolumeReport['capabilities'][number]): string =>
  [accessMode, attachmentMode, fsType, mountFlags?.join(',')].filter(Boolean).join(', ');

/** Lines about what is not looked at: volumes whose records can't be read, and entries of lists. */
export const orphansLeftOut = ({ leftOut = [], skipped = 0 }: OrphansReport): string[] => [
  ...(skipped > 0
    ? [
        `${skipped} left out, as they can't be read; until then no other orphaned volumes are found: see stagecraft actor list`,
      ]
    : []),
  ...leftOut.map(({ plugin, nodeId, count, why }) =>
    oneLine(
      `${count} left out of the list of plugin ${plugin}${nodeId === undefined ? '' : ` on node ${nodeId}`}: ${why}`,
    ),
  ),
];

/** Table of volumes that plugins list and no record has, and plugins whose lists could not be read. */
export function orphanedVolumes(report: OrphansReport): string {
  const { orphans, unknown } = report;
  const none = orphansLeftOut(report).length > 0 ? 'no orphaned volumes are known' : 'there are no orphaned volumes';
  const rows = orphans.map(({ plugin, nodeId = '-', csiId }) => [plugin, nodeId, csiId]);
  return [
    rows.length === 0 ? none : table(['PLUGIN', 'NODE', 'CSI ID'], rows),
    ...unknown.map(({ plugin, why }) => oneLine(`not known of plugin ${plugin}: ${why}`)),
  ].join('\n');
}
