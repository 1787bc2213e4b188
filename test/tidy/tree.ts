/** The files of this repository, read once for all rules. */
import { join } from 'node:path';
import { repositoryFiles } from './repository.ts';
import { parse, type TextFile } from './source.ts';

export const ROOT = join(import.meta.dirname, '..', '..');
export const FILES = repositoryFiles(ROOT);
export const TEXTS = FILES.flatMap(({ path, text }): TextFile[] => (text === undefined ? [] : [{ path, text }]));
export const SOURCES = await parse(TEXTS.filter(({ path }) => path.endsWith('.ts')));
