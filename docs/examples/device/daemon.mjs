// A thermometer's daemon: on a unix socket it answers each line of JSON with a line of JSON.
import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';

const [socketPath] = process.argv.slice(2);

const answers = {
  who: () => ({ name: 'acme thermometer', version: '1.4.0' }),
  features: () => ['READ', 'CALIBRATE'],
  status: () => ({ ready: true }),
  read: () => ({ celsius: 21.5 }),
};

rmSync(socketPath, { force: true }); // left by a run that was killed
createServer((connection) => {
  const lines = createInterface({ input: connection });
  lines.on('line', (line) => {
    const { ask } = JSON.parse(line);
    connection.write(`${JSON.stringify(answers[ask]?.() ?? { error: `what is ${ask}?` })}\n`);
  });
  for (const end of [connection, lines]) end.on('error', () => {}); // the client has disconnected
}).listen(socketPath);
