import { createSocket, type Socket } from 'node:dgram';
import { closeSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import ffi from 'node:ffi';

/** Numbers of Linux, the same on x64 and arm64. */
const SOCK_DGRAM = 2;
const SOCK_NONBLOCK_CLOEXEC = 0o2004000;

interface Family {
  readonly domain: number;
  readonly protocol: number;
  readonly type: 'udp4' | 'udp6';
  readonly request: number;
  readonly reply: number;
}

const FOUR: Family = { domain: 2, protocol: 1, type: 'udp4', request: 8, reply: 0 };
const SIX: Family = { domain: 10, protocol: 58, type: 'udp6', request: 128, reply: 129 };

/** Type, code, checksum, identifier and sequence; the kernel fills in checksum and identifier. */
const HEADER_BYTES = 8;
const SEQUENCE_AT = 6;
/** Of a request, by which its reply is found. */
export const TOKEN_BYTES = 8;
/** Any but 0, which Node refuses: the kernel ignores the port. */
const SOME_PORT = 1;

export interface EchoSocket {
  /** Sends an echo request with a token. Rejects if there is no way to the address. */
  send(address: string, token: Uint8Array, sequence: number): Promise<void>;
  close(): void;
}

/**
 * A socket for echo requests of one family, without privileges: the kernel grants it to the groups in
 * `net.ipv4.ping_group_range`. Null where it does not. Node makes no such socket, and takes one that is there: to
 * libuv it is a datagram socket like one of UDP.
 */
export async function openEchoSocket(address: string, onReply: (token: Buffer) => void): Promise<EchoSocket | null> {
  const family = isIPv4(address) ? FOUR : SIX;
  const fd = openDescriptor(family);
  if (fd === null) return null;
  const socket = createSocket(family.type);
  socket.on('message', (message) => {
    if (message.length >= HEADER_BYTES + TOKEN_BYTES && message[0] === family.reply)
      onReply(message.subarray(HEADER_BYTES, HEADER_BYTES + TOKEN_BYTES));
  });
  try {
    await bound(socket, fd);
  } catch {
    closeSync(fd);
    return null;
  }
  socket.unref();
  return {
    send: (to, token, sequence) => sent(socket, to, packet(family, token, sequence)),
    close: () => void socket.close(),
  };
}

type SocketCall = (domain: number, type: number, protocol: number) => number;

/** Looked up once: where the kernel grants no socket, each probe tries again. */
let socketCall: SocketCall | null | undefined;

/** Null where the C library has no such function. */
function findSocketCall(): SocketCall | null {
  if (process.platform !== 'linux') return null;
  try {
    return ffi.dlopen(null, { socket: { arguments: ['i32', 'i32', 'i32'], return: 'i32' } }).functions.socket;
  } catch {
    return null;
  }
}

/** Null where the kernel grants none. */
function openDescriptor({ domain, protocol }: Family): number | null {
  if (socketCall === undefined) socketCall = findSocketCall();
  const fd = socketCall?.(domain, SOCK_DGRAM | SOCK_NONBLOCK_CLOEXEC, protocol) ?? -1;
  return fd < 0 ? null : fd;
}

function bound(socket: Socket, fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.bind({ fd }, () => {
      socket.off('error', reject);
      // What is sent has its own result.
      socket.on('error', () => undefined);
      resolve();
    });
  });
}

function packet({ request }: Family, token: Uint8Array, sequence: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES + TOKEN_BYTES);
  bytes[0] = request;
  bytes.writeUInt16BE(sequence, SEQUENCE_AT);
  bytes.set(token, HEADER_BYTES);
  return bytes;
}

function sent(socket: Socket, address: string, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.send(bytes, SOME_PORT, address, (error) => (error === null ? resolve() : reject(error)));
  });
}
