import { globSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Of a line of a list that is taken out. */
export interface TakenLine {
  /** Relative to the copy. */
  readonly file: string;
  readonly line: string;
}

const CODE = ['src', 'test', 'scripts', 'bench'];
const IMPORT = /^(?:import|export) (?:type )?(?:\{([^}]*)\}|\*(?: as (\w+))?) from '(\.[^']*)';$/;

/**
 * Takes an area out of a copy of the project: the folders of its name, and in each other file the lines that import
 * from them, that use what was imported, or that name the area. Returns those lines.
 */
export function takeOut(copy: string, area: string): readonly TakenLine[] {
  const isOfArea = (path: string): boolean => path.split('/').includes(area);
  for (const top of CODE)
    for (const path of readdirSync(join(copy, top), { recursive: true, encoding: 'utf8' }))
      if (path.endsWith(`/${area}`)) rmSync(join(copy, top, path), { recursive: true, force: true });
  const taken: TakenLine[] = [];
  for (const file of globSync(
    CODE.map((top) => `${top}/**/*.ts`),
    // The table of what can be taken out is no list of a layer.
    { cwd: copy, exclude: ['test/night/removal/**'] },
  )) {
    const path = join(copy, file);
    const before = readFileSync(path, 'utf8').split('\n');
    const imported = before.flatMap((line) =>
      namesFrom(line, (to) => isOfArea(relative(copy, join(dirname(path), to)))),
    );
    const names = new RegExp(`\\b(?:${[area, ...imported.flat()].join('|')})\\b`);
    const lost = before.filter((line) => names.test(line) && !/^\s*(?:\*|\/\/|\/\*\*)/.test(line));
    if (lost.length === 0) continue;
    writeFileSync(path, before.filter((line) => !lost.includes(line)).join('\n'));
    taken.push(...lost.map((line) => ({ file, line: line.trim() })));
  }
  return taken;
}

/** What a line imports from where `isThere`; nothing where it is no import of one line. */
function namesFrom(line: string, isThere: (to: string) => boolean): string[] {
  const [, list, whole, from] = IMPORT.exec(line) ?? [];
  if (from === undefined || !isThere(from)) return [];
  const names = (list ?? '').split(',').map((each) => each.trim().replace(/^type /, ''));
  return [...names.map((each) => each.split(' as ').at(-1) ?? ''), whole ?? ''].filter((each) => each !== '');
}
