import type { Name } from './folder.ts';

const SLASH = 0x2f;

/** Throws unless it is the name of one entry of a folder. */
export function checkName(name: Name): void {
  const hasSlash = typeof name === 'string' ? name.includes('/') : name.includes(SLASH);
  if (name.length === 0 || hasSlash || ['.', '..'].includes(name.toString()))
    throw new Error('expected the name of one entry');
}
