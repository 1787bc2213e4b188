/** For tests: a git server on the loopback address that sends any given answer, over http. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

/** What the server says for one repository. */
export interface Script {
  /** The list of refs; by default HEAD and main are this commit. */
  readonly tip: string;
  readonly refs?: (response: ServerResponse) => void;
  /** The commit without parents that is sent; null if all commits have parents. */
  readonly shallow: string | null;
  readonly pack: Buffer;
}

export const line = (text: string | Buffer): Buffer => {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes]);
};
export const FLUSH = Buffer.from('0000');

export function refList(...refs: readonly (readonly [name: string, object: string])[]): Buffer {
  const lines = refs.map(([name, object], n) =>
    line(`${object} ${name}${n === 0 ? '\0shallow allow-reachable-sha1-in-want symref=HEAD:refs/heads/main' : ''}\n`),
  );
  return Buffer.concat([line('# service=git-upload-pack\n'), FLUSH, ...lines, FLUSH]);
}

export class HostileServer {
  readonly #server: Server;
  readonly #scripts = new Map<string, Script>();
  /** Requests that came to a path of no repository: what somebody was led to. */
  readonly strays: string[] = [];

  constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  async listen(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** The URL of a repository that is served like this. */
  serve(script: Script): string {
    const id = `r${this.#scripts.size}`;
    this.#scripts.set(id, script);
    return `http://127.0.0.1:${this.port}/${id}`;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => undefined);
    const [, id = '', what = ''] = (request.url ?? '').split('/');
    const script = this.#scripts.get(id);
    if (script === undefined) {
      this.strays.push(request.url ?? '');
      response.writeHead(404).end();
    } else if (what === 'info') {
      response.setHeader('content-type', 'application/x-git-upload-pack-advertisement');
      if (script.refs === undefined) response.end(refList(['HEAD', script.tip], ['refs/heads/main', script.tip]));
      else script.refs(response);
    } else {
      const said = await body(request);
      response.setHeader('content-type', 'application/x-git-upload-pack-result');
      const shallow = said.includes('deepen')
        ? [...(script.shallow === null ? [] : [line(`shallow ${script.shallow}`)]), FLUSH]
        : [];
      response.end(Buffer.concat(said.includes('0009done') ? [...shallow, line('NAK\n'), script.pack] : shallow));
    }
  }
}

async function body(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const all = Buffer.concat(parts);
  return (request.headers['content-encoding'] === 'gzip' ? gunzipSync(all) : all).toString('latin1');
}
