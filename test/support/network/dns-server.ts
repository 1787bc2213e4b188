/** A name server on loopback for tests: answers from a table, and can be silent or fail. */
import { createSocket } from 'node:dgram';
import { isIPv4 } from 'node:net';

const TYPE_A = 1;
const TYPE_AAAA = 28;
const HEADER_BYTES = 12;

/** The addresses of a name, or how the server fails for it. */
export type DnsAnswer = readonly string[] | 'silent' | 'SERVFAIL' | 'no-aaaa-answer';

export interface DnsServer {
  /** `127.0.0.1:PORT` */
  readonly address: string;
  /** The names that were asked for, each family once. */
  readonly asked: string[];
  close(): Promise<void>;
}

/** Names that the table lacks do not exist. */
export async function startDnsServer(
  table: Readonly<Record<string, DnsAnswer>>,
  at: { readonly host: string; readonly port: number } = { host: '127.0.0.1', port: 0 },
): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (query, from) => {
    const { name, type, end } = questionOf(query);
    asked.push(name);
    const reply = replyTo(query.subarray(0, end), type, table[name]);
    if (reply !== null) socket.send(reply, from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(at.port, at.host, resolve));
  return {
    address: `${at.host}:${socket.address().port}`,
    asked,
    close: () => new Promise((resolve) => socket.close(resolve)),
  };
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function replyTo(question: Buffer, type: number, answer: DnsAnswer | undefined): Buffer | null {
  if (answer === 'silent' || (answer === 'no-aaaa-answer' && type === TYPE_AAAA)) return null;
  const addresses = answer === 'no-aaaa-answer' ? ['10.0.0.5'] : typeof answer === 'object' ? answer : [];
  const wanted = addresses.filter((address) => isIPv4(address) === (type === TYPE_A));
  const head = Buffer.from(question);
  const code = answer === undefined ? 3 : answer === 'SERVFAIL' ? 2 : 0;
  head.writeUInt16BE(0x8180 | code, 2);
  head.writeUInt16BE(wanted.length, 6);
  head.writeUInt16BE(0, 10);
  return Buffer.concat([head, ...wanted.map((address) => recordOf(address, type))]);
}

/** A pointer to the name of the question, the type, the class, a time to live, and the address. */
function recordOf(address: string, type: number): Buffer {
  const data = isIPv4(address) ? Buffer.from(address.split('.').map(Number)) : bytesOfSix(address);
  return Buffer.concat([Buffer.from([0xc0, HEADER_BYTES, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length]), data]);
}

function bytesOfSix(address: string): Buffer {
  const [front = '', back = ''] = address.split('::');
  const [head, tail] = [wordsOf(front), wordsOf(back)];
  const all = [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
  return Buffer.from(all.map((word) => word.padStart(4, '0')).join(''), 'hex');
}

function wordsOf(text: string): string[] {
  return text.split(':').filter((word) => word !== '');
}
