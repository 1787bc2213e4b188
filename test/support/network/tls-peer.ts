/** A TLS server of a test that sends any alert, or any bytes, at any time: Node's server sends only alerts that fit. */
import { createCipheriv, createHmac } from 'node:crypto';
import type { Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { createSecureContext, TLSSocket } from 'node:tls';
import type { Certificate } from '../notify/push-authority.ts';
import type { Ending } from '../fixtures/installation.ts';
import { listen, type Listener } from './listener.ts';

export const TLS_VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const;

export interface TlsFault {
  readonly version: (typeof TLS_VERSIONS)[number];
  /** In place of the first answer, or when the handshake is over. */
  readonly when: 'hello' | 'open';
  /** Level and description of an alert, or bytes that are no record. */
  readonly sends: readonly [level: number, description: number] | Uint8Array;
}

const CIPHERS = 'ECDHE-ECDSA-AES128-GCM-SHA256:TLS_AES_128_GCM_SHA256';
const CHANGE_CIPHER = 20;
const ALERT = 21;
const HANDSHAKE = 22;
const DATA = 23;
const HEADER = 5;
/** Of the random bytes in a record with a hello: header, type, length and version are before them. */
const RANDOM_AT = 11;
const RANDOM_BYTES = 32;

export function listenFaulty(ending: Ending, certificate: Certificate, fault: TlsFault): Promise<Listener> {
  return listen(ending, (socket) => {
    if (fault.when === 'hello') socket.once('data', () => socket.end(plain(fault.sends)));
    else openThenFail(socket, certificate, fault);
  });
}

function plain(sends: TlsFault['sends']): Uint8Array {
  return sends instanceof Uint8Array ? sends : Buffer.from([ALERT, 3, 3, 0, 2, ...sends]);
}

/** Node's own server makes the handshake. What it would send afterwards is replaced by the fault. */
function openThenFail(socket: Socket, certificate: Certificate, { version, sends }: TlsFault): void {
  const [near, far] = duplexPair();
  const secureContext = createSecureContext({
    ...certificate,
    // It asks for no certificate, and reading those of all authorities takes longer than the handshake.
    ca: certificate.cert,
    ciphers: CIPHERS,
    minVersion: version,
    maxVersion: version,
  });
  const server = new TLSSocket(far, { isServer: true, secureContext });
  server.on('error', () => undefined);
  const secrets = new Map<string, string>();
  server.on('keylog', (line: Buffer) => {
    const [label = '', , secret = ''] = line.toString().trim().split(' ');
    secrets.set(label, secret);
  });
  const randoms: Record<'client' | 'server', Buffer> = { client: Buffer.alloc(0), server: Buffer.alloc(0) };
  let isOver = false;
  let isChanged = false;
  const fail = (): void => {
    isOver = true;
    socket.end(sends instanceof Uint8Array ? sends : sealed(version, sends, secrets, randoms));
    server.destroy();
  };
  socket.on('close', () => server.destroy());
  eachRecord(socket, (record) => {
    if (randoms.client.length === 0) randoms.client = randomOf(record);
    if (isOver) return;
    // In TLS 1.3 the handshake of the client ends with its first encrypted record.
    if (version === 'TLSv1.3' && record[0] === DATA) fail();
    else near.write(record);
  });
  eachRecord(near, (record) => {
    if (randoms.server.length === 0) randoms.server = randomOf(record);
    if (isOver) return;
    socket.write(record);
    if (version === 'TLSv1.2' && isChanged && record[0] === HANDSHAKE) fail();
    isChanged ||= record[0] === CHANGE_CIPHER;
  });
}

function eachRecord(stream: NodeJS.ReadableStream, use: (record: Buffer) => void): void {
  let read = Buffer.alloc(0);
  stream.on('data', (chunk: Buffer) => {
    read = Buffer.concat([read, chunk]);
    while (read.length >= HEADER && read.length >= HEADER + read.readUInt16BE(3)) {
      const length = HEADER + read.readUInt16BE(3);
      use(read.subarray(0, length));
      read = read.subarray(length);
    }
  });
}

function randomOf(record: Buffer): Buffer {
  return Buffer.from(record.subarray(RANDOM_AT, RANDOM_AT + RANDOM_BYTES));
}

/** The record of an alert as the server would encrypt it (RFC 5288, RFC 8446). */
function sealed(
  version: TlsFault['version'],
  alert: readonly [number, number],
  secrets: ReadonlyMap<string, string>,
  randoms: Record<'client' | 'server', Buffer>,
): Buffer {
  if (version === 'TLSv1.3') {
    const secret = Buffer.from(secrets.get('SERVER_TRAFFIC_SECRET_0') ?? '', 'hex');
    const header = Buffer.from([DATA, 3, 3, 0, 3 + 16]);
    const [key, iv] = [expanded(secret, 'key', 16), expanded(secret, 'iv', 12)];
    return Buffer.concat([header, encrypted(key, iv, header, Buffer.from([...alert, ALERT]))]);
  }
  const master = Buffer.from(secrets.get('CLIENT_RANDOM') ?? '', 'hex');
  const seed = Buffer.concat([Buffer.from('key expansion'), randoms.server, randoms.client]);
  const block = pseudoRandom(master, seed, 40);
  // The record before it, with number 0, ended the handshake.
  const number = Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]);
  const iv = Buffer.concat([block.subarray(36, 40), number]);
  const about = Buffer.concat([number, Buffer.from([ALERT, 3, 3, 0, 2])]);
  const content = encrypted(block.subarray(16, 32), iv, about, Buffer.from(alert));
  return Buffer.concat([Buffer.from([ALERT, 3, 3, 0, 8 + content.length]), number, content]);
}

function encrypted(key: Buffer, iv: Buffer, about: Buffer, text: Buffer): Buffer {
  const cipher = createCipheriv('aes-128-gcm', key, iv);
  cipher.setAAD(about);
  return Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

/** HKDF-Expand-Label of TLS 1.3, for one block. */
function expanded(secret: Buffer, label: string, length: number): Buffer {
  const name = `tls13 ${label}`;
  const info = Buffer.concat([Buffer.from([0, length, name.length]), Buffer.from(name), Buffer.from([0, 1])]);
  return createHmac('sha256', secret).update(info).digest().subarray(0, length);
}

/** P_SHA256 of TLS 1.2. */
function pseudoRandom(secret: Buffer, seed: Buffer, length: number): Buffer {
  const hmac = (data: Buffer): Buffer => createHmac('sha256', secret).update(data).digest();
  const parts: Buffer[] = [];
  for (let a = hmac(seed); parts.length * 32 < length; a = hmac(a)) parts.push(hmac(Buffer.concat([a, seed])));
  return Buffer.concat(parts).subarray(0, length);
}
