import { Agent, request } from 'node:http';
import { startProgram } from '../support/program.ts';
const p = await startProgram(null);
const job = await p.queue();
const agent = new Agent({ keepAlive: true, maxSockets: 8 });
function go(path: string, method: string, headers: object, body?: string): Promise<string> {
  return new Promise((res, rej) => { const r = request(p.url + path, { agent, method, headers: { authorization: `Bearer ${p.tokens.readonly}`, ...(body === undefined ? {} : {'content-type': 'application/json', 'content-length': Buffer.byteLength(body)}), ...headers } }, (x) => { let t=''; x.setEncoding('utf8').on('data', (d: string) => t+=d).on('end', () => res(t)); }); r.on('error', rej).end(body); });
}
const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
const H = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'job_get' };
const legacy = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'job_get', arguments: { id: job } } });
const modern = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'job_get', arguments: { id: job }, _meta: meta } });
const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
const kinds: Record<string, () => Promise<string>> = {
  api: () => go(`/api/v1/jobs/${job}`, 'GET', {}),
  legacy: () => go('/mcp', 'POST', {}, legacy),
  modern: () => go('/mcp', 'POST', H, modern),
  list: () => go('/mcp', 'POST', {}, list),
};
for (let round = 0; round < 3; round++)
for (const [n, f] of Object.entries(kinds)) {
  const N = 1500; const c0 = process.cpuUsage(); const t0 = performance.now(); let i = 0;
  await Promise.all(Array.from({ length: 8 }, async () => { while (i++ < N) await f(); }));
  const c = process.cpuUsage(c0);
  console.log(n, Math.round(N / (performance.now() - t0) * 1000), '/s', 'cpu us/req', Math.round((c.user + c.system) / N));
}
agent.destroy(); await p.close();
