import { X509Certificate } from 'node:crypto';
import { Failure } from '../domain/failure.ts';
import { errorCode } from '../lib/error-code.ts';
import { LinkInPath, openSettled } from '../lib/files/open-path.ts';

/** More than the certificates of all public authorities. */
const FILE_BYTES_MAX = 1_048_576;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** The certificates of `--check-ca-file`, as PEM; none without a file. Throws invalid_argument for any other file. */
export async function readCheckCa(path: string | null): Promise<readonly string[]> {
  if (path === null) return [];
  const certificates = (await textOf(path)).match(CERTIFICATE) ?? [];
  if (certificates.length === 0 || !certificates.every(isCertificate))
    throw refused(path, 'is not a file of certificates; expected PEM, one or several BEGIN CERTIFICATE blocks');
  return certificates;
}

async function textOf(path: string): Promise<string> {
  const file = await openSettled(path).catch((error: unknown) => {
    if (error instanceof LinkInPath)
      throw refused(path, 'leads through a symbolic link that another account made or may exchange');
    throw refused(path, `cannot be read (${errorCode(error) ?? 'unknown error'})`);
  });
  try {
    if (!(await file.stat()).isFile()) throw refused(path, 'is not a file');
    const bytes = Buffer.alloc(FILE_BYTES_MAX + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      ({ bytesRead: read } = await file.read(bytes, length, bytes.length - length));
    if (length > FILE_BYTES_MAX) throw refused(path, 'is longer than 1 MiB');
    return bytes.toString('latin1', 0, length);
  } finally {
    await file.close();
  }
}

function isCertificate(pem: string): boolean {
  try {
    // Also one of a server that signs for itself.
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

function refused(path: string, why: string): Failure {
  return new Failure('invalid_argument', `--check-ca-file: ${path} ${why}.`);
}
