/** What the documents show is what the program reads: commands, rule files and workflows. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readArguments } from '../../src/faces/cli/syntax/arguments.ts';
import { TREE } from '../../src/faces/cli/syntax/tree.ts';
import { Failure } from '../../src/domain/failure.ts';
import { readRuleFile } from '../../src/domain/rules/file.ts';
import { type Block, blocksOf, stepsOf, DOCUMENTS, svcCalls } from './blocks.ts';

const BLOCKS = DOCUMENTS.flatMap(blocksOf);
const SHELL = BLOCKS.filter(({ language }) => language === 'sh');
/** Between svc and its words; what follows them is the person's. */
const PLACEHOLDER = /^\.\.\.$|^…$/;

/** The refusals of the calls of a block, each with its place. */
function refusals(block: Block): string[] {
  return stepsOf(block).flatMap(({ line, command }) =>
    svcCalls(command).flatMap((words) => {
      try {
        readArguments(
          TREE,
          words.filter((word) => !PLACEHOLDER.test(word)),
        );
        return [];
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        return [`${block.path}:${line}: svc ${words.join(' ')}: ${error.message}`];
      }
    }),
  );
}

describe('The documents', () => {
  test('show commands that svc reads', () => {
    const calls = SHELL.flatMap(stepsOf).flatMap(({ command }) => svcCalls(command));
    assert.ok(calls.length > 250, `only ${calls.length} commands were found`);
    assert.deepEqual(SHELL.flatMap(refusals), []);
  });

  test('would not pass with an unknown verb, flag or argument', () => {
    for (const text of [
      'svc job lst',
      'FOO=1 svc job list --stat running',
      'svc job get',
      'x | bin/svc rule add --fil -',
    ])
      assert.equal(refusals({ path: 'docs/a.md', line: 1, language: 'sh', text, exitCode: 0 }).length, 1, text);
  });

  test('show rule files that are read', async () => {
    const rules = BLOCKS.filter(
      ({ language, text }) => language === 'yaml' && /^name:/m.test(text) && /^when:/m.test(text),
    );
    const written = SHELL.flatMap(({ text }) =>
      [...text.matchAll(/<<'EOF'\n(name: [^]*?\nwhen: [^]*?)\nEOF/g)].map((found) => found[1] ?? ''),
    );
    const texts = [...rules.map(({ text }) => text), ...written];
    assert.ok(texts.length >= 6, `only ${texts.length} rules were found`);
    for (const text of texts) assert.ok((await readRuleFile(`${text}\n`)) !== null, text);
  });
});
