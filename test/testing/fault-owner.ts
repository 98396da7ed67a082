/** A process that starts a fault driver, tells its pid, and waits to be killed: see fault-process.test.ts */
import { join } from 'node:path';
import { faultDriver } from '../../src/tools/fault-driver/fault-driver.js';

const [folder = '', state] = process.argv.slice(2);
const driver = await faultDriver({
  socketPath: join(folder, 'csi.sock'),
  nodeId: 'node-1',
  dataDir: join(folder, 'data'),
});
if (state === 'frozen') await driver.freeze();
console.log(driver.pid);
