/** Which folders may need each other, and how wide they are. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as areas from './areas.ts';
import { assertNone, bites, parse } from '../source.ts';
import { FILES, SOURCES } from '../tree.ts';

/** The graph of files that are on no disk. */
async function planted(...texts: readonly (readonly [path: string, text: string])[]): Promise<areas.Graph> {
  return areas.fileGraph(await parse(texts.map(([path, text]) => ({ path, text }))));
}

describe('Folders and areas', () => {
  const files = areas.fileGraph(SOURCES);
  test('no circle of imports between files', async () => {
    assertNone(areas.circles(files), areas.CIRCLES_WHY);
    const circle = await planted(
      ['src/store/a.ts', "import type { B } from './b/b.ts';"],
      ['src/store/b/b.ts', "import { c } from '../c.ts';"],
      ['src/store/c.ts', "export { a } from './a.ts';"],
    );
    bites(areas.circles(circle), /a\.ts -> src\/store\/b\/b\.ts -> src\/store\/c\.ts -> src\/store\/a\.ts/);
  });

  test('no circle between the areas of a layer', async () => {
    assertNone(areas.circles(areas.areaGraph(files)), areas.CIRCLES_WHY);
    const circle = await planted(
      ['src/store/jobs/a.ts', "import { b } from '../rules/b.ts';"],
      ['src/store/rules/b.ts', 'export const b = 1;'],
      ['src/store/rules/c.ts', "import { d } from '../jobs/d.ts';"],
    );
    bites(areas.circles(areas.areaGraph(circle)), /closes the circle src\/store\/jobs -> src\/store\/rules/);
    assert.deepEqual(areas.circles(circle), []);
  });

  test('no circle between folders of any depth', async () => {
    assertNone(areas.circles(areas.folderGraph(files)), areas.CIRCLES_WHY);
    const circle = await planted(
      ['src/faces/web/a/a.ts', "import { b } from '../b/c/b.ts';"],
      ['src/faces/web/b/c/b.ts', 'export const b = 1;'],
      ['src/faces/web/b/c/d.ts', "import { e } from '../../a/e.ts';"],
    );
    bites(areas.circles(areas.folderGraph(circle)), /closes the circle src\/faces\/web\/a -> src\/faces\/web\/b\/c/);
    const within = await planted(
      ['src/faces/web/a.ts', "import { b } from './b/b.ts';"],
      ['src/faces/web/b/b.ts', "import { c } from '../c.ts';"],
    );
    assert.deepEqual(areas.circles(areas.folderGraph(within)), []);
  });

  test('an area imports none that is above it', async () => {
    assertNone(areas.rankFaults(areas.areaGraph(files)), areas.RANKS_WHY);
    const above = await planted(['src/domain/secrets/a.ts', "import { b } from '../jobs/b.ts';"]);
    bites(areas.rankFaults(areas.areaGraph(above)), /imports src\/domain\/jobs, which is above it/);
    const below = await planted(['src/domain/jobs/a.ts', "import { b } from '../secrets/b.ts';"]);
    assert.deepEqual(areas.rankFaults(areas.areaGraph(below)), []);
  });

  test(`a folder has at most ${areas.FOLDER_FILES_MAX} files`, () => {
    const paths = FILES.map(({ path }) => path);
    assertNone(areas.wideFolders(paths), areas.FOLDER_WHY);
    const many = Array.from({ length: areas.FOLDER_FILES_MAX + 1 }, (_, index) => `src/domain/rules/a${index}.ts`);
    bites(areas.wideFolders(many), /has 21 files/);
    assert.deepEqual(areas.wideFolders(many.slice(1)), []);
  });
});
