/**
 * The fault driver over the bundled driver's real state: volumes that outlive its process, and real bind mounts. Needs
 * root, as every mount does.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import type { CsiClient } from '../../src/csi/client.js';
import type { FaultDriver } from '../../src/testing/index.js';
import { refusalOf } from '../refusal.js';
import { inScenes, Scene } from './scene.js';

const volumeCapability = { mount: {}, accessMode: { mode: 'SINGLE_NODE_WRITER' } } as const;

const isMounted = (path: string): boolean =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .some((line) => line.split(' ')[4] === path);

const isReadonly = (path: string): boolean =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .some((line) => line.split(' ')[4] === path && line.split(' ')[5]?.split(',').includes('ro'));

describe('fault driver: real state', () => {
  let scene: Scene;
  let driver: FaultDriver;
  let client: CsiClient;
  let stagingTargetPath: string;
  let targetPath: string;
  let volumeId: string;

  beforeEach(async () => {
    scene = new Scene();
    stagingTargetPath = join(scene.folder, 'staging');
    targetPath = join(scene.folder, 'pods', 'target');
    mkdirSync(stagingTargetPath);
    mkdirSync(dirname(targetPath));
    driver = await scene.driver({ attach: true });
    client = scene.client();
    const { volume } = await client.createVolume({ name: 'data', volumeCapabilities: [volumeCapability] });
    volumeId = volume?.volumeId ?? '';
  });

  afterEach(async () => {
    for (const path of [targetPath, stagingTargetPath]) while (isMounted(path)) execFileSync('umount', [path]);
    await scene.end();
  });

  const uses = async () => {
    const { publishContext } = await client.controllerPublishVolume({ volumeId, nodeId: 'node-1', volumeCapability });
    const staging = { volumeId, stagingTargetPath, volumeCapability, publishContext };
    return { staging, publication: { ...staging, targetPath } };
  };
  const publish = async () => {
    const { staging, publication } = await uses();
    await client.nodeStageVolume(staging);
    await client.nodePublishVolume(publication);
    return publication;
  };

  it('dead after it has published: the mount is there, the repeat finds it so, and no order was broken', async () => {
    const { staging, publication } = await uses();
    await client.nodeStageVolume(staging);
    driver.script('NodePublishVolume', { die: 'after' });
    expect(await refusalOf(client.nodePublishVolume(publication))).to.include({ grpcCode: 'UNAVAILABLE' });
    expect(isMounted(targetPath)).to.equal(true);
    writeFileSync(join(targetPath, 'file'), 'kept');
    await driver.start();
    await client.nodePublishVolume(publication);
    expect(readFileSync(join(targetPath, 'file'), 'utf8')).to.equal('kept');
    await client.nodeUnpublishVolume({ volumeId, targetPath });
    await client.nodeUnstageVolume({ volumeId, stagingTargetPath });
    await client.controllerUnpublishVolume({ volumeId, nodeId: 'node-1' });
    await client.deleteVolume({ volumeId });
    expect(existsSync(targetPath)).to.equal(false);
    expect(driver.violations()).to.deep.equal([]);
  });

  it('dead after it has made a volume: the repeat gives the same one', async () => {
    driver.script('CreateVolume', { die: 'after' });
    const request = { name: 'more', volumeCapabilities: [volumeCapability] };
    await refusalOf(client.createVolume(request));
    await driver.start();
    const { volume } = await client.createVolume(request);
    const { entries } = await client.listVolumes({});
    expect(entries.map((entry) => entry.volume?.volumeId)).to.have.members([volumeId, volume?.volumeId]);
    await client.deleteVolume({ volumeId: volume?.volumeId });
  });

  it('unstaged and deleted while published, both OK: the mount is there, and both are violations', async () => {
    await publish();
    driver.script('NodeUnstageVolume', { answer: {} }).script('DeleteVolume', { answer: {} });
    await client.nodeUnstageVolume({ volumeId, stagingTargetPath });
    await client.deleteVolume({ volumeId });
    expect(isMounted(targetPath)).to.equal(true);
    expect(driver.violations().map(({ kind }) => kind)).to.include.members(['still-published', 'still-attached']);
  });

  it('published again with readonly: OK, and still for writing', async () => {
    const publication = await publish();
    driver.script('NodePublishVolume', { answer: {} }, { where: { readonly: true } });
    await client.nodePublishVolume({ ...publication, readonly: true });
    expect(isReadonly(targetPath)).to.equal(false);
  });

  it('published on an occupied target: OK, and the old mount is still there', async () => {
    const publication = await publish();
    driver.script('NodePublishVolume', { answer: {} });
    await client.nodePublishVolume({ ...publication, volumeId: 'another' });
    writeFileSync(join(targetPath, 'file'), 'of the first');
    expect(readFileSync(join(stagingTargetPath, 'file'), 'utf8')).to.equal('of the first');
  });

  it('a target that is in use: INTERNAL, late, and the mount is there', async () => {
    await publish();
    driver.script('NodeUnpublishVolume', { delayMs: 50, code: 'INTERNAL', text: 'target is busy' });
    expect(await refusalOf(client.nodeUnpublishVolume({ volumeId, targetPath }))).to.include({ grpcCode: 'INTERNAL' });
    expect(isMounted(targetPath)).to.equal(true);
  });

  it('held while the work goes on: other calls get ABORTED from the script, then the real mount exists', async () => {
    const { staging, publication } = await uses();
    await client.nodeStageVolume(staging);
    driver.script('NodePublishVolume', { hang: 'before', goOn: true, holdsVolume: true });
    const { number } = await (async () => {
      await refusalOf(client.nodePublishVolume(publication, { timeoutMs: 100 }));
      return driver.waitForCall('NodePublishVolume');
    })();
    await driver.waitForGone(number);
    expect(await refusalOf(client.nodePublishVolume(publication))).to.include({ grpcCode: 'ABORTED' });
    driver.release(number);
    expect((await driver.waitForEnd(number)).end).to.include({ work: 'OK' });
    expect(isMounted(targetPath)).to.equal(true);
    await client.nodePublishVolume(publication);
    expect(driver.violations()).to.deep.equal([]);
  });
});

describe('fault driver: state without root', () => {
  const scenes = inScenes();

  it('mounts that are only remembered are gone when it dies, volumes are not', async () => {
    const driver = await scenes.scene.driver({ mounts: 'memory' });
    const client = scenes.scene.client();
    const { volume } = await client.createVolume({ name: 'data', volumeCapabilities: [volumeCapability] });
    const volumeId = volume?.volumeId ?? '';
    const stagingTargetPath = join(scenes.scene.folder, 'staging');
    mkdirSync(stagingTargetPath);
    await client.nodeStageVolume({ volumeId, stagingTargetPath, volumeCapability });
    expect(isMounted(stagingTargetPath)).to.equal(false);
    await driver.kill();
    await driver.start();
    expect((await client.listVolumes({})).entries).to.have.length(1);
    await client.nodeUnstageVolume({ volumeId, stagingTargetPath });
    expect(driver.violations()).to.deep.equal([]);
  });
});
