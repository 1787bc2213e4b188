import { errorCode } from '../../../lib/error-code.ts';

/** By error code of the operating system. */
const FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'cannot be read: permission denied',
  EPERM: 'cannot be read: permission denied',
  EISDIR: 'is a directory; expected a file',
};

/** Why a file could not be read, such as `op.tok does not exist`; `file` is `-` for standard input. */
export function readFault(file: string, error: unknown): string {
  const name = file === '-' ? 'standard input' : file;
  const code = errorCode(error);
  return `${name} ${FAULTS[code ?? ''] ?? `cannot be read${code === null ? '' : ` (${code})`}`}`;
}
