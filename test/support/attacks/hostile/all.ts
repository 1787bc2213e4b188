/** The corpus of hostile repositories. */
import type { Hostile } from './corpus.ts';
import { LINKS, MODES } from './links.ts';
import { COMMITS, PACKS } from './packs.ts';
import { FILES, SERVERS, URLS } from './servers.ts';
import { NAMES, TREES } from './trees.ts';

export const HOSTILE: readonly Hostile[] = [
  ...LINKS,
  ...MODES,
  ...TREES,
  ...NAMES,
  ...PACKS,
  ...COMMITS,
  ...SERVERS,
  ...URLS,
  ...FILES,
];
