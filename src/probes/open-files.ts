import { readFileSync } from 'node:fs';

/** What most systems permit; for machines without the file. */
const USUAL_LIMIT = 1_024;

/** How many files and sockets this process may have open. */
export function openFilesLimit(): number {
  let text: string;
  try {
    text = readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return USUAL_LIMIT;
  }
  const [, limit] = /^Max open files\s+(\d+|unlimited)/m.exec(text) ?? [];
  if (limit === 'unlimited') return Number.MAX_SAFE_INTEGER;
  return limit === undefined ? USUAL_LIMIT : Number(limit);
}
