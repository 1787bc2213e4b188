/** bench/results.md: a section of figures for each saved run, with the parts that no later one has measured. */
import { existsSync, readFileSync } from 'node:fs';

const SECTION = '## Figures\n';
const ROW = /^\| (?<part>\S+) \|.*\n/gm;
/** The first column above the parts. */
const HEAD = ['part', '---'];

/** The sections of a file, as they are; none where there is no file. */
export function sectionsOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split(SECTION).slice(1) : [];
}

/** The file with the newest section first; `earlier` ones lose the `parts` that it has, and end with their last. */
export function resultsFile(intro: string, newest: string, earlier: readonly string[], parts: Set<string>): string {
  const kept = earlier
    .map((section) => section.replaceAll(ROW, (row, part: string) => (parts.has(part) ? '' : row)).trimEnd())
    .filter((section) => section.matchAll(ROW).some(({ groups }) => !HEAD.includes(groups?.['part'] ?? '')));
  return [intro, ...[newest, ...kept].map((section) => `${SECTION}\n${section.trim()}\n`)].join('\n');
}
