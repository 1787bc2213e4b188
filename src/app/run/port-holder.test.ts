import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { portHolder } from './port-holder.ts';
import { needs } from '../../../test/support/tools.ts';

const skip = needs('Linux');

test('The process that listens on a port is named, and no process on a free one', { skip }, async () => {
  const server = createServer();
  const address = await new Promise<{ port: number }>((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve(server.address() as { port: number })),
  );
  assert.match((await portHolder(address.port)) ?? '', new RegExp(String.raw`\S.* \(pid ${process.pid}\)$`));
  await new Promise((resolve) => server.close(resolve));
  assert.equal(await portHolder(address.port), null);
});
