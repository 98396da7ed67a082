/** Addresses: whatever the parts are, they come back, and none reaches into another's place. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  addressParts,
  nodeOwnedPrefix,
  pluginAddress,
  pluginsAddress,
  registryAddress,
  taskAddress,
} from '../../../machines/kit/addresses.js';

/** Any text that is whole: no half of a surrogate pair. */
const text = fc.string({ unit: 'binary' });
const nasty = fc.oneof(
  text,
  fc.constantFrom('/', 'a/b', '%', '%2F', '%25', '..', '', ' ', '#', '?', 'ü', '日本', '😀', '\0'),
);

describe('addresses', () => {
  it('each kind of actor has its machine, its node and its own parts, in this order', () => {
    expect(registryAddress('worker-1')).to.equal('registry/worker-1');
    expect(pluginsAddress('worker-1', 'csi-node', 'ebs')).to.equal('plugins/worker-1/csi-node/ebs');
    expect(pluginAddress('worker-1', 'csi-node', 'ebs', 'a1')).to.equal('plugin/worker-1/csi-node/ebs/a1');
    expect(taskAddress('worker-1', 'ebs')).to.equal('task/worker-1/ebs');
  });

  it('parts with slashes, percent signs and any script come back as they were', () => {
    fc.assert(
      fc.property(nasty, nasty, nasty, nasty, (node, type, name, allocId) => {
        expect(addressParts(pluginAddress(node, type, name, allocId))).to.deep.equal([
          'plugin',
          node,
          type,
          name,
          allocId,
        ]);
        expect(addressParts(pluginsAddress(node, type, name))).to.deep.equal(['plugins', node, type, name]);
        expect(addressParts(taskAddress(node, name))).to.deep.equal(['task', node, name]);
        expect(addressParts(registryAddress(node))).to.deep.equal(['registry', node]);
      }),
      { seed: 1 },
    );
  });

  it('different parts make different addresses', () => {
    const parts = fc.tuple(nasty, nasty, nasty, nasty);
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        const same = a.every((part, index) => part === b[index]);
        expect(pluginAddress(...a) === pluginAddress(...b)).to.equal(same);
      }),
      { seed: 2 },
    );
  });

  it('the prefix of a node holds what is its own and nothing of another node, however alike their names', () => {
    fc.assert(
      fc.property(nasty, nasty, nasty, nasty, (node, other, type, name) => {
        const prefix = nodeOwnedPrefix('plugins', node);
        expect(pluginsAddress(node, type, name).startsWith(prefix)).to.equal(true);
        expect(pluginsAddress(other, type, name).startsWith(prefix)).to.equal(node === other);
        expect(pluginAddress(node, type, name, 'a').startsWith(prefix)).to.equal(false);
      }),
      { seed: 3 },
    );
  });

  it('an address is printable text without spaces, so that a store and a log can keep it', () => {
    fc.assert(
      fc.property(nasty, nasty, (node, id) => {
        expect(taskAddress(node, id)).to.match(/^[!-~]*$/);
      }),
      { seed: 4 },
    );
  });
});
