import { userInfo } from 'node:os';

/** The user of this process; its number if the user database has no entry for it, as in containers. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
