import { readdir, readFile, readlink } from 'node:fs/promises';

/** Where the kernel lists sockets, by family. */
const SOCKET_TABLES = ['/proc/net/tcp', '/proc/net/tcp6'] as const;
const LISTENING = '0A';
/** Processes that are looked at; an answer for an error message is not worth more. */
const PROCESSES_MAX = 2_000;

/**
 * The process that listens on a local port, such as `nginx (pid 812)`; null where it cannot be seen, as that of another
 * user.
 */
export async function portHolder(port: number): Promise<string | null> {
  const inodes = new Set((await Promise.all(SOCKET_TABLES.map((path) => inodesIn(path, port)))).flat());
  if (inodes.size === 0) return null;
  const sockets = new Set([...inodes].map((inode) => `socket:[${inode}]`));
  const pids = (await list('/proc')).filter((name) => /^\d+$/.test(name)).slice(0, PROCESSES_MAX);
  for (const pid of pids) {
    for (const fd of await list(`/proc/${pid}/fd`)) {
      const target = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => '');
      if (sockets.has(target)) return `${(await text(`/proc/${pid}/comm`)).trim() || 'a process'} (pid ${pid})`;
    }
  }
  return null;
}

/** A line has, after its number: local address, remote address, state, six columns, and the inode. */
async function inodesIn(path: string, port: number): Promise<string[]> {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return (await text(path)).split('\n').flatMap((line) => {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
    return state === LISTENING && local.endsWith(wanted) ? [inode] : [];
  });
}

function text(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}

function list(path: string): Promise<string[]> {
  return readdir(path).catch(() => []);
}
