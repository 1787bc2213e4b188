/**
 * The repository under test. Each rule is a function of file text in test/tidy/, holds for the whole repository, and
 * is shown here to bite on bad samples (and to leave good ones alone), so that a rule about a folder that does not
 * exist yet is known to work before the first file is in it.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { needs } from '../support/tools.ts';
import * as doors from './exports.ts';
import * as commits from './commits.ts';
import * as documents from './texts/documents.ts';
import * as durations from './durations.ts';
import { PATH_USERS } from './file-access.ts';
import { needlessParts } from './path-parts.ts';
import * as repository from './repository.ts';
import { SAMPLES, SOURCE_RULES } from './samples.ts';
import * as sizes from './sizes.ts';
import { assertNone, bites, parse, type TextFile } from './source.ts';
import { FILES, ROOT, SOURCES, TEXTS } from './tree.ts';
import * as words from './texts/words.ts';

/** What is written by people as code; documents and locks may be as long as they need. */
const CODE = /\.(ts|mts|js|mjs|css|html|sql|sh)$|^(bin|scripts|\.ci)\/[^.]+$/;

function fileAt(wanted: string): TextFile {
  return TEXTS.find(({ path }) => path === wanted) ?? assert.fail(`${wanted} is missing.`);
}

function manifest(packages: object): TextFile {
  return { path: 'package.json', text: JSON.stringify(packages) };
}

describe('Every source file', () => {
  for (const [name, rule] of Object.entries(SOURCE_RULES)) {
    test(name, () =>
      assertNone(
        SOURCES.flatMap((source) => rule.find(source)),
        rule.why,
      ),
    );
  }
  test(`has at most ${sizes.FILE_LINES_MAX} lines`, () => {
    assertNone(TEXTS.filter(({ path }) => CODE.test(path)).flatMap(sizes.fileLength), sizes.FILE_LENGTH_WHY);
  });
  test(`has no line of more than ${sizes.LINE_COLUMNS_MAX} columns`, () => {
    assertNone(SOURCES.flatMap(sizes.lineLength), sizes.LINE_LENGTH_WHY);
  });
});

test('Each exception to the rule about files of a run is a file that needs it', () => {
  const usesFiles = /from '(?:node:)?fs(?:\/promises)?'/;
  const needless = Object.keys(PATH_USERS).filter((path) => !usesFiles.test(fileAt(path).text));
  assert.deepEqual([...needless, ...needlessParts(SOURCES)], []);
});

describe('The rule for source files bites:', () => {
  for (const [name, rule] of Object.entries(SOURCE_RULES)) {
    const { bad, good } = SAMPLES[name as keyof typeof SAMPLES];
    test(name, async () => {
      assert.ok(bad.length > 0, 'A rule without a bad sample is not known to bite.');
      for (const source of await parse(bad))
        assert.notEqual(rule.find(source).length, 0, `It lets pass in ${source.path}:\n${source.text}`);
      for (const source of await parse(good))
        assert.deepEqual(rule.find(source), [], `It forbids in ${source.path}:\n${source.text}`);
    });
  }
  test('a file of 301 lines is too long, one of 300 is not', () => {
    bites(sizes.fileLength({ path: 'src/a.ts', text: 'x;\n'.repeat(sizes.FILE_LINES_MAX + 1) }), /has 301 lines/);
    assert.deepEqual(sizes.fileLength({ path: 'src/a.ts', text: 'x;\n'.repeat(sizes.FILE_LINES_MAX) }), []);
  });
  test('a line of 121 columns is too long, one of 120 is not', () => {
    const line = 'x'.repeat(sizes.LINE_COLUMNS_MAX);
    bites(sizes.lineLength({ path: 'src/a.ts', text: `${line}\n// ${line}\n` }), /src\/a\.ts has 123 columns/);
    bites(sizes.lineLength({ path: 'src/a.ts', text: `${line}x` }), /has 121 columns/);
    assert.deepEqual(sizes.lineLength({ path: 'src/a.ts', text: `${line}\n${line}\n` }), []);
  });
});

describe('An export', () => {
  test('of src is imported by another file', async () => {
    assertNone(doors.unusedExports(SOURCES), doors.UNUSED_WHY);
    const dead = await parse([
      { path: 'src/lib/a.ts', text: 'export const a = 1;\nexport function b() {}\nexport interface C {}\n' },
      { path: 'src/lib/b.ts', text: "import { b } from './a.ts';" },
    ]);
    bites(doors.unusedExports(dead), /exports a, .*\n.*exports C, /);
    for (const text of ["import { a, b, type C } from '../src/lib/a.ts';", "await import('../src/lib/a.ts');"]) {
      const [a] = dead;
      assert.ok(a !== undefined);
      assert.deepEqual(doors.unusedExports(await parse([a, { path: 'test/a.test.ts', text }])), []);
    }
  });

  test('is imported from the file that defines it', async () => {
    assertNone(doors.passedOn(SOURCES), doors.PASSED_ON_WHY);
    for (const text of ["export { a } from './a.ts';", "import { a } from './a.ts';\nexport { a };"])
      bites(doors.passedOn(await parse([{ path: 'src/lib/b.ts', text }])), /exports what another file defines/);
    const own = 'const a = 1;\nexport { a as b };';
    assert.deepEqual(doors.passedOn(await parse([{ path: 'src/lib/b.ts', text: own }])), []);
  });
});

describe('Names and places', () => {
  test('no path has a name that says nothing', () => {
    assertNone(
      FILES.flatMap(({ path }) => repository.vagueName(path)),
      repository.VAGUE_NAME_WHY,
    );
    for (const path of ['src/utils/a.ts', 'src/lib/string-helpers.ts', 'src/store/jobManager.ts', 'docs/common.md']) {
      bites(repository.vagueName(path), /in its name/);
    }
    assert.deepEqual(repository.vagueName('src/operations/commands/commands.ts'), []);
  });

  test('no file names a path of a private machine', () => {
    assertNone(TEXTS.flatMap(repository.privatePath), repository.PRIVATE_PATH_WHY);
    for (const [top, rest] of [
      ['work', 'main'],
      ['farm', 'x'],
    ]) {
      bites(repository.privatePath({ path: 'docs/a.md', text: `See:\n(/${top}/${rest})` }), /names a private path/);
      assert.deepEqual(
        repository.privatePath({
          path: 'docs/a.md',
          text: `src/${top}/a, https://example.org/${top}/b, $HOME/${top}/`,
        }),
        [],
      );
    }
  });

  test('no large binary is in the tree', () => {
    assertNone(FILES.flatMap(repository.largeBinary), repository.BINARY_WHY);
    const sizeBytes = repository.BINARY_BYTES_MAX + 1;
    bites(repository.largeBinary({ path: 'docs/a.png', sizeBytes, text: undefined }), /is a binary/);
    assert.deepEqual(repository.largeBinary({ path: 'docs/a.md', sizeBytes, text: 'long' }), []);
  });

  test('migrations pair up in number and name', () => {
    assertNone(repository.unpairedMigrations(FILES.map(({ path }) => path)), repository.MIGRATIONS_WHY);
    bites(
      repository.unpairedMigrations(['migrations/sqlite/0001_first.sql']),
      /has no partner migrations\/postgres\/0001_first.sql/,
    );
    bites(
      repository.unpairedMigrations(['migrations/sqlite/0001_first.sql', 'migrations/postgres/0001_start.sql']),
      /has no partner/,
    );
    bites(
      repository.unpairedMigrations(['migrations/sqlite/0002_second.sql', 'migrations/postgres/0002_second.sql']),
      /number 0001 is expected/,
    );
    bites(repository.unpairedMigrations(['migrations/mysql/0001_first.sql']), /is not migrations/);
    assert.deepEqual(
      repository.unpairedMigrations(['migrations/sqlite/0001_first.sql', 'migrations/postgres/0001_first.sql']),
      [],
    );
  });
});

describe('Words', () => {
  test('documents, source files and tests have no banned word', () => {
    assertNone(TEXTS.filter(({ path }) => words.hasCheckedWords(path)).flatMap(words.bannedWords), words.WORDS_WHY);
  });

  test('every folder with code or documents is checked, and each exception is needed', () => {
    for (const path of ['src/a.ts', 'bench/a.ts', 'scripts/a.ts', 'test/a.test.ts', 'test/a/b.sh', 'docs/a/b.md'])
      assert.ok(words.hasCheckedWords(path), path);
    for (const path of Object.keys(words.UNCHECKED)) bites(words.bannedWords(fileAt(path)), /says "/);
  });

  for (const { banned, bad, good } of words.BANNED_WORDS) {
    test(`${banned} bites`, () => {
      bites(words.bannedWords({ path: 'src/a.ts', text: bad }), /src\/a\.ts says "/);
      assert.deepEqual(words.bannedWords({ path: 'src/a.ts', text: good }), []);
    });
  }

  test('inline code of a document may name a word, its prose may not', () => {
    const { good, bad } = words.DOCUMENT_SAMPLE;
    assert.deepEqual(words.bannedWords({ path: 'docs/a.md', text: good }), []);
    bites(words.bannedWords({ path: 'docs/a.md', text: bad }), /says "nobody"/);
  });
});

test('A document has lines that fit, and one command a line', () => {
  assertNone(TEXTS.filter(({ path }) => path.endsWith('.md')).flatMap(documents.faults), documents.WHY);
  for (const { text, fault } of documents.SAMPLES) bites(documents.faults({ path: 'docs/a.md', text }), fault);
  assertNone(TEXTS.flatMap(durations.ofDocument), durations.WHY);
  bites(durations.ofDocument({ path: 'docs/a.md', text: 'it waits 10 s' }), /writes the duration "10 s"/);
});

describe('Packages', () => {
  test('the locks and the settings of npm name no registry host', () => {
    assertNone(
      ['package-lock.json', 'test/tools/package-lock.json', '.npmrc'].map(fileAt).flatMap(repository.namedRegistry),
      repository.REGISTRY_WHY,
    );
    bites(
      repository.namedRegistry({ path: 'package-lock.json', text: '{\n"resolved": "https://registry.example/a.tgz"}' }),
      /names a registry/,
    );
    bites(
      repository.namedRegistry({ path: '.npmrc', text: 'fund=false\nregistry=https://registry.example/' }),
      /names a registry/,
    );
  });

  test('the version is the same wherever it is said', () => {
    const { text } = fileAt('src/version.ts');
    assertNone(
      ['package.json', 'package-lock.json'].map(fileAt).flatMap((file) => repository.versionMismatch(file, text)),
      repository.VERSION_WHY,
    );
    bites(
      repository.versionMismatch(manifest({ version: '0.2.0' }), "export const VERSION = '0.1.0';"),
      /says 0.2.0, .* says 0.1.0/,
    );
    bites(repository.versionMismatch(manifest({ version: '0.2.0' }), ''), /says 0.2.0/);
    assert.deepEqual(repository.versionMismatch(manifest({ version: '0.1.0' }), "export const VERSION = '0.1.0';"), []);
  });

  test('T60: dependencies are exact, few, and each has its reason', () => {
    const decisionLines = TEXTS.filter(({ path }) => path.startsWith('docs/decisions/')).flatMap(({ text }) =>
      text.split('\n'),
    );
    assertNone(repository.dependencies(fileAt('package.json'), decisionLines), repository.DEPENDENCIES_WHY);
    const reasons = ['- `a` does the thing that we would do worse.'];
    assert.deepEqual(repository.dependencies(manifest({ dependencies: { a: '1.2.3-beta.4' } }), reasons), []);
    bites(repository.dependencies(manifest({ dependencies: { a: '^1.2.3' } }), reasons), /not one exact version/);
    bites(repository.dependencies(manifest({ devDependencies: { b: 'latest' } }), reasons), /not one exact version/);
    bites(
      repository.dependencies(manifest({ optionalDependencies: { b: '1.0.0' } }), reasons),
      /b without a line of reason/,
    );
    const many = Object.fromEntries(
      Array.from({ length: repository.DEPENDENCIES_MAX + 1 }, (_, index) => [`p${index}`, '1.0.0']),
    );
    bites(repository.dependencies(manifest({ dependencies: many }), reasons), /has 17 runtime dependencies/);
  });
});

test(`a commit has a subject of at most ${commits.SUBJECT_MAX} characters`, { skip: needs('git') }, () => {
  if (existsSync(join(ROOT, '.git')))
    assertNone(commits.longSubjects(commits.recentSubjects(ROOT)), commits.SUBJECTS_WHY);
  bites(commits.longSubjects(['x'.repeat(commits.SUBJECT_MAX + 1)]), /has 73 characters/);
  assert.deepEqual(commits.longSubjects(['x'.repeat(commits.SUBJECT_MAX), `Merge ${'x'.repeat(80)}`]), []);
});
