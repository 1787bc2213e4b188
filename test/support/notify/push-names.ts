/** A name server of a test, which can stop to answer, or answer that it can't. */
import { createSocket } from 'node:dgram';
import type { Ending } from '../fixtures/installation.ts';

export interface NameServer {
  /** `address:port`. */
  readonly at: string;
  /** What it does from now on. */
  mode: 'answers' | 'silent' | 'servfail';
  /** The names that it was asked for so far, of type A. */
  readonly asked: string[];
  /** IPv4 addresses, by name. Others do not exist. */
  readonly names: Map<string, readonly string[]>;
}

const HEAD_BYTES = 12;
const TYPE_A = 1;
const [SERVFAIL, NXDOMAIN] = [2, 3];
const TTL_SECONDS = 0;

export async function openNameServer(ending: Ending): Promise<NameServer> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  ending.after(async () => void socket.close());
  const server: NameServer = { at: `127.0.0.1:${socket.address().port}`, mode: 'answers', asked: [], names: new Map() };
  socket.on('message', (query, { address, port }) => {
    const { name, type, end } = questionOf(query);
    if (type === TYPE_A) server.asked.push(name);
    if (server.mode === 'silent') return;
    const addresses = server.names.get(name);
    const found = type === TYPE_A ? (addresses ?? []) : [];
    const code = server.mode === 'servfail' ? SERVFAIL : addresses === undefined ? NXDOMAIN : 0;
    socket.send(answerTo(query.subarray(0, end), code === 0 ? found : [], code), port, address);
  });
  return server;
}

/** The one question of a query, and where it ends. */
function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEAD_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length).toLowerCase());
    at += 1 + length;
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** The question with its answers: each one points to the name in the question. */
function answerTo(question: Buffer, addresses: readonly string[], code: number): Buffer {
  const head = Buffer.from(question);
  // An answer, recursion available; one question, one answer for each address, nothing else.
  head.writeUInt16BE(0x8180 | code, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8);
  const records = addresses.map((address) => {
    const record = Buffer.alloc(16);
    record.writeUInt16BE(0xc000 | HEAD_BYTES, 0);
    record.writeUInt16BE(TYPE_A, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt32BE(TTL_SECONDS, 6);
    record.writeUInt16BE(4, 10);
    record.set(address.split('.').map(Number), 12);
    return record;
  });
  return Buffer.concat([head, ...records]);
}
