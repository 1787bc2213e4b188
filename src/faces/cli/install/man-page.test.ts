import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { needs } from '../../../../test/support/tools.ts';
import { TREE } from '../syntax/tree.ts';
import { manPage } from './man-page.ts';

const PAGE = manPage(TREE, '1.2.3');

test('point 37: the manual names every verb, flag and example of the tree', () => {
  const unescaped = PAGE.replaceAll(/\\\[u([0-9A-F]+)\]/g, (_, code: string) =>
    String.fromCodePoint(parseInt(code, 16)),
  );
  const text = unescaped.replaceAll(String.raw`\-`, '-').replaceAll(String.raw`\e`, '\\');
  for (const { path, summary, flags, examples } of TREE.verbs) {
    const part = text.slice(text.indexOf(`.SS svc ${path}\n${summary}.`)).split('\n.SS ')[0] ?? '';
    assert.notEqual(part, '', path);
    for (const { name } of flags) assert.ok(part.includes(`.B --${name}`), `${path} --${name}`);
    for (const example of examples) assert.ok(part.includes(`\n${example}`), example);
  }
  for (const { name } of TREE.globals) assert.ok(text.includes(`.B --${name}`), name);
});

test('no line of the manual is a request that was not meant, and none is too long a word for roff', () => {
  const requests = new Set(PAGE.split('\n').flatMap((line) => /^[.'](\S*)/.exec(line)?.[1] ?? []));
  assert.deepEqual([...requests].toSorted(), ['B', 'I', 'PP', 'RE', 'RS', 'SH', 'SS', 'TH', 'TP', 'fi', 'nf']);
  assert.ok(PAGE.endsWith('\n') && !PAGE.includes('\n\n'));
});

test('groff takes the manual without a warning', { skip: needs('groff') }, () => {
  const { stdout, stderr, status } = spawnSync('groff', ['-man', '-Tutf8', '-ww', '-P-cbou'], {
    input: PAGE,
    encoding: 'utf8',
    env: { ...process.env, MANWIDTH: '80' },
  });
  assert.deepEqual([status, stderr], [0, '']);
  assert.match(stdout, /^ {3}svc job wait$/m);
  assert.match(stdout, /--idempotency-key KEY/);
});
