/**
 * `npm run conformance`: the public conformance suite of MCP against `/mcp`. It is installed from its own lock file
 * (122 packages), so that only those who run it have it. The suite has no option for a token: a proxy on loopback adds
 * it. `expected-failures.yml` lists what does not apply.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { readArguments } from '../../../scripts/arguments.ts';
import { type Program, startProgram } from '../../support/program.ts';

const HERE = import.meta.dirname;
const SUITE = join(HERE, 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js');

async function startProxy({ url, tokens }: Program): Promise<Server> {
  const server = createServer((asked, answer) => {
    const { method, headers } = asked;
    const full = { ...headers, authorization: `Bearer ${tokens.operator}` };
    const sent = request(`${url}${asked.url ?? ''}`, { method, headers: full }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(answer);
    });
    sent.on('error', () => answer.destroy());
    asked.pipe(sent);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function main(): Promise<number> {
  const install = ['ci', '--prefix', HERE, '--ignore-scripts', '--prefer-offline', '--loglevel=error'];
  if (spawnSync('npm', install, { stdio: 'inherit' }).status !== 0) return 1;
  const program = await startProgram(null);
  const proxy = await startProxy(program);
  const { port } = proxy.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/mcp`;
  const options = ['server', '--url', url, '--expected-failures', join(HERE, 'expected-failures.yml')];
  const suite = spawn(process.execPath, [SUITE, ...options], { stdio: 'inherit' });
  const [code] = (await once(suite, 'exit')) as [number | null];
  proxy.closeAllConnections();
  proxy.close();
  await program.close();
  return code ?? 1;
}

readArguments('npm run conformance', {});
process.exitCode = await main();
