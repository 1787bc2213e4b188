import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { encode } from '../../../operations/core/envelope.ts';
import { isNone } from '../../../operations/core/http-face.ts';
import { OPERATIONS } from '../../../operations/table.ts';
import { readArguments } from './arguments.ts';
import { commandTree } from './command-tree.ts';
import { deriveTree } from './derive.ts';
import { help } from '../help.ts';
import type { Tree } from './tree.ts';

const TREE_FILE = join(import.meta.dirname, 'tree.json');
const GOLDEN = join(import.meta.dirname, '..', '..', '..', '..', 'test', 'golden', 'commands.json');
const UPDATE = process.env['GATEHOUSE_UPDATE_GOLDEN'] === '1';
const SCREEN_LINES = 24;

// Through JSON, as the file holds it: it has no absent fields.
const derived = JSON.parse(JSON.stringify(deriveTree(OPERATIONS))) as Tree;

test('tree.json is what the operation table, the settings and the programs say', () => {
  if (UPDATE) writeFileSync(TREE_FILE, `${JSON.stringify(derived, null, 2)}\n`);
  assert.deepEqual(JSON.parse(readFileSync(TREE_FILE, 'utf8')), derived, 'run: npm run golden');
});

test('point 37: svc commands --output json is the golden file, which is the same in many lines', () => {
  const text = `${JSON.stringify(JSON.parse(encode('commands', commandTree(derived))), null, 2)}\n`;
  if (UPDATE) writeFileSync(GOLDEN, text);
  assert.equal(readFileSync(GOLDEN, 'utf8'), text, 'run: npm run golden');
});

test('every operation with a command line face is a verb', () => {
  const paths = derived.verbs.map(({ path }) => path);
  const faces = OPERATIONS.flatMap((row) => (isNone(row.cli) ? [] : [row.cli.verb]));
  assert.deepEqual(
    faces.filter((verb) => !paths.includes(verb)),
    [],
  );
  assert.equal(new Set(paths).size, paths.length, 'a verb is there twice');
});

/** The words of the first svc command in a line of shell: without quotes, and up to a redirection or a pipe. */
function wordsOf(line: string): string[] {
  const words = line.slice(line.indexOf('svc ')).matchAll(/'([^']*)'|"([^"]*)"|([<>)|])|([^\s<>)|'"]+)/g);
  const found: string[] = [];
  for (const [, single, double, end, bare] of words) {
    if (end !== undefined) break;
    found.push(single ?? double ?? bare ?? '');
  }
  return found;
}

test('point 37: every verb has one or two examples, and each is read as that verb', () => {
  for (const { path, examples } of derived.verbs) {
    assert.ok(examples.length >= 1 && examples.length <= 2, path);
    for (const example of examples) {
      const request = readArguments(derived, wordsOf(example).slice(1));
      assert.equal(request.ask === 'run' ? request.verb.path : null, path, example);
    }
  }
});

test('every flag has help, and no verb has a flag of the same name as a flag of every command', () => {
  const globals = derived.globals.map(({ name }) => name);
  for (const { path, flags } of derived.verbs) {
    const names = flags.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length, path);
    assert.deepEqual(
      names.filter((name) => globals.includes(name)),
      [],
      path,
    );
    assert.deepEqual(
      flags.filter((flag) => flag.help === ''),
      [],
      path,
    );
  }
  assert.deepEqual(
    derived.globals.filter((flag) => flag.help === ''),
    [],
  );
});

test('the help of svc fits on one screen of 24 lines of 80 columns and names every noun', () => {
  const text = help(derived, '') ?? '';
  const lines = text.trimEnd().split('\n');
  assert.ok(lines.length <= SCREEN_LINES);
  assert.deepEqual(
    lines.filter((line) => line.length > 80),
    [],
  );
  for (const { name } of derived.nouns) assert.match(text, new RegExp(`^  (.*, )?${name}\\b`, 'm'));
});

const words = (text: string | null): string => (text ?? '').replaceAll(/\s+/g, ' ');

test('help is wrapped between words, each below its column; an example stays one line', () => {
  for (const topic of [
    '',
    'flags',
    ...derived.nouns.map(({ name }) => name),
    ...derived.verbs.map(({ path }) => path),
  ]) {
    const text = help(derived, topic, 80);
    assert.equal(words(text), words(help(derived, topic)), topic);
    const wide = (text ?? '').split('\n').filter((line) => line.length > 80 && !line.startsWith('  svc '));
    assert.deepEqual(wide, [], topic);
  }
  assert.match(help(derived, 'flags', 60) ?? '', /^ {2}--\S.*\n {10}/m);
});

test('the help of each part of a path that has several verbs has a title', () => {
  const parts = derived.verbs.flatMap(({ path }) =>
    path
      .split(' ')
      .slice(0, -1)
      .map((_, at, words) => words.slice(0, at + 1).join(' ')),
  );
  for (const part of new Set(parts)) assert.match(help(derived, part) ?? '', new RegExp(`^svc ${part}: \\S`), part);
});

test('point 37: the help of a verb begins with its examples, and names each of its flags', () => {
  for (const verb of derived.verbs) {
    const text = help(derived, verb.path) ?? '';
    const at = (part: string): number => text.indexOf(part);
    assert.ok(at(verb.examples[0] ?? '') < at('Usage: ') && at('Usage: ') >= 0, verb.path);
    for (const flag of verb.flags) assert.ok(text.includes(`--${flag.name}`), `${verb.path} --${flag.name}`);
  }
});
