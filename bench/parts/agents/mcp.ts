import type { Bench } from '../../kit/bench.ts';
import { type Daemon, expectStatus, queueCommand, startDaemon } from '../../kit/daemon.ts';
import type { HttpRequest } from '../../kit/http-client.ts';
import { load } from '../../kit/load.ts';
import { residentMiB } from '../../kit/process-facts.ts';
import { removeDir } from '../../kit/scratch.ts';
import { inTurn } from '../../kit/statistics.ts';

const CLIENTS = 8;
const MODERN = '2026-07-28';

/** The same read over the JSON API and as a call of a tool, in both eras of the protocol; what the SDK takes. */
export async function mcp({ report, quick }: Bench): Promise<void> {
  const daemon = await startDaemon();
  try {
    expectStatus(await daemon.ask('POST', '/maintenance/cordon'), 200);
    const job = await queueCommand(daemon, ['true']);
    const drive = async (request: HttpRequest): Promise<number> =>
      (await load({ request, clients: CLIENTS, durationMs: quick ? 1_000 : 3_000, warmUpMs: 1_000 }, 200)).perSecond;
    const api = (): Promise<number> =>
      drive({ method: 'GET', url: daemon.url(`/jobs/${job}`), headers: daemon.headers });
    await api();
    const before = residentMiB(daemon.pid);
    await load({ request: message(daemon, 'tools/list', {}), clients: 1, durationMs: 5_000, count: 1 }, 200);
    const loaded = residentMiB(daemon.pid) - before;
    const call = { name: 'job_get', arguments: { id: job } };
    const rates = await inTurn(quick ? 1 : 3, {
      api,
      legacy: () => drive(message(daemon, 'tools/call', call)),
      modern: () => drive(modern(daemon, call)),
      list: () => drive(message(daemon, 'tools/list', {})),
    });
    const floor = { name: 'GET /jobs/{id} over the API, 8 clients', value: rates.api };
    const goal = { ratioAtLeast: 0.25 };
    report.add({ name: 'job_get over MCP, eras until 2025, 8 clients', value: rates.legacy, unit: '/s', floor, goal });
    report.add({ name: 'job_get over MCP, revision of 2026, 8 clients', value: rates.modern, unit: '/s', floor, goal });
    report.add({ name: 'tools/list of an operator, 8 clients', value: rates.list, unit: '/s', floor });
    report.add({ name: 'memory that the first message to /mcp adds', value: loaded, unit: 'MiB' });
  } finally {
    await daemon.stop();
    removeDir(daemon.dataDir);
  }
}

function message(daemon: Daemon, method: string, params: object): HttpRequest {
  const { headers } = daemon;
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return { method: 'POST', url: new URL('/mcp', daemon.url('/')).href, headers, body };
}

function modern(daemon: Daemon, call: { readonly name: string }): HttpRequest {
  const meta = { 'io.modelcontextprotocol/protocolVersion': MODERN, 'io.modelcontextprotocol/clientCapabilities': {} };
  const request = message(daemon, 'tools/call', { ...call, _meta: meta });
  const era = { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': call.name };
  return { ...request, headers: { ...request.headers, ...era } };
}
