/** Directories outside its run that a job may write: the field `writable` of orders made on the machine. */

/** Directories of one order; each is a descriptor that the process of the job inherits. */
const WRITABLE_MAX = 16;
const PATH_BYTES_MAX = 4_095;
const SSH_FOLDER = '.ssh';

/** Directories of the system that no job may write: neither them, nor what lies in them, nor what holds them. */
export const SYSTEM_FOLDERS: readonly string[] = [
  '/etc',
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib64',
  '/boot',
  '/proc',
  '/sys',
  '/dev',
  '/run',
  '/root',
  '/var/spool',
  '/var/lib/systemd',
];

/** The path as it is stored, or why a text is refused. Whether it exists is checked on the machine. */
export function readWritable(text: string): { readonly path: string } | { readonly fault: string } {
  const path = text.replace(/(?<=[^/])\/+$/, '');
  const parts = path.split('/').slice(1);
  if (!path.startsWith('/') || Buffer.byteLength(path) > PATH_BYTES_MAX || /\p{Cc}/u.test(path) || !path.isWellFormed())
    return { fault: 'expected the absolute path of a directory' };
  if (parts.every((part) => part === '')) return { fault: '/ is never writable; expected a directory below it' };
  if (parts.some((part) => part === '' || part === '.' || part === '..'))
    return { fault: 'expected an absolute path without "..", "." and empty parts' };
  if (parts.includes(SSH_FOLDER)) return { fault: `it lies in a directory ${SSH_FOLDER}` };
  return { path };
}

/** Why directories are refused as a whole, as one line; null where nothing is wrong with them. */
export function writableFault(texts: readonly string[]): string | null {
  if (texts.length > WRITABLE_MAX) return `expected at most ${WRITABLE_MAX} directories`;
  for (const text of texts) {
    const read = readWritable(text);
    if ('fault' in read) return `${JSON.stringify(text)}: ${read.fault}`;
  }
  return null;
}

/** The paths as they are stored, each once. For texts without a fault. */
export function writablePaths(texts: readonly string[]): string[] {
  const read = texts.map(readWritable);
  return [...new Set(read.flatMap((each) => ('path' in each ? [each.path] : [])))];
}
