import type { IncomingHttpHeaders } from 'node:http';
import { Readable, type Transform } from 'node:stream';
import { MIMEType } from 'node:util';
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import type { ProbeDetail } from '../domain/checks/check.ts';
import { errorCode } from '../lib/error-code.ts';
import { Down } from './finding.ts';

/** The longest body that is read, as it was sent and as it is unpacked. */
const BODY_BYTES_MAX = 65_536;
/** The largest window that RFC 9659 permits for a body: 8 MiB, as a power of two. */
const ZSTD_WINDOW_LOG_MAX = 23;

/** The codings of a body (RFC 9110). One at a time: several could unpack to any length on the way. */
const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX } }),
};

/**
 * The parts of a body as text, as the answer says that it is coded. Ends with a `Down`: `too_large` beyond the limit,
 * `unreadable` for a coding that is unknown or does not fit the bytes.
 */
export async function* readText(
  headers: IncomingHttpHeaders,
  chunks: AsyncIterable<Buffer>,
  unreadable: ProbeDetail,
): AsyncGenerator<string> {
  const coding = (headers['content-encoding'] ?? '').trim().toLowerCase();
  const decoder = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined;
  if (decoder === undefined && coding !== '' && coding !== 'identity') throw new Down(unreadable);
  const sent = limited(chunks);
  try {
    yield* decoded(decoder === undefined ? sent : limited(unpacked(sent, decoder())), charsetOf(headers));
  } catch (error) {
    // The others are those of the decoders.
    if (error instanceof Down || errorCode(error) === null) throw error;
    throw new Down(unreadable);
  }
}

/** Yields what is within the limit before it ends with `too_large`. */
async function* limited(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let left = BODY_BYTES_MAX;
  for await (const chunk of chunks) {
    if (left > 0) yield chunk.subarray(0, left);
    left -= chunk.length;
    if (left < 0) throw new Down('too_large');
  }
}

/** Unpacks only what is read of it. */
async function* unpacked(chunks: AsyncIterable<Buffer>, decoder: Transform): AsyncGenerator<Buffer> {
  const source = Readable.from(chunks);
  source.on('error', (error) => decoder.destroy(error));
  try {
    yield* source.pipe(decoder) as AsyncIterable<Buffer>;
  } finally {
    source.destroy();
    decoder.destroy();
  }
}

async function* decoded(chunks: AsyncIterable<Buffer>, charset: TextDecoder): AsyncGenerator<string> {
  for await (const chunk of chunks) yield charset.decode(chunk, { stream: true });
  yield charset.decode();
}

/** UTF-8 where the answer names no charset, or one that is not known. */
function charsetOf({ 'content-type': type = '' }: IncomingHttpHeaders): TextDecoder {
  try {
    return new TextDecoder(new MIMEType(type).params.get('charset') ?? 'utf-8');
  } catch {
    return new TextDecoder('utf-8');
  }
}
