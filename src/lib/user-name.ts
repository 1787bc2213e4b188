import { userInfo } from 'node:os';

/**
 * The user of this process. A user id without an entry in the user database, as containers have, is named by its
 * number.
 */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
