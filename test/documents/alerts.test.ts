/** A rule of the documents that reacts to a message acts on the host that the message names, and on no other one. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { blocksOf, DOCUMENTS, ROOT } from './blocks.ts';

/** Where a rule hears of another machine. */
const MESSAGE = /event\.source == "(alertmanager|generic|grafana|uptime-kuma|gatus|healthchecks|host)"/;
const ACTION = /^ *(command|playbook): /m;
const LIMIT = /^ *limit: (\$\{event\.labels\.\w+\})/m;
/** From the line of the expression to the next rule or the end of the block. */
const RULE = /^[ -]*when: [^]*?(?=^ *- name: |^EOF|(?![^]))/gm;

/** The rules of a text that act on hosts and do not say on which. */
function unlimited(text: string): string[] {
  const rules = text.match(RULE) ?? [];
  return rules.filter((rule) => MESSAGE.test(rule) && ACTION.test(rule) && !LIMIT.test(rule));
}

/** Of this machine, and limited to it: a tutorial needs no second one. */
const HERE = /^ *inventory: localhost/m;

describe('A rule of the documents', () => {
  const blocks = DOCUMENTS.flatMap(blocksOf);

  test('that a message starts acts on the host that the message names', () => {
    const acting = blocks.flatMap(({ text }) => text.match(RULE) ?? []).filter((rule) => MESSAGE.test(rule));
    assert.ok(acting.length >= 7, `only ${acting.length} rules were found`);
    for (const { path, line, text } of blocks) assert.deepEqual(unlimited(text), [], `${path}:${line}`);
  });

  test('names localhost for a message in a tutorial only', () => {
    const here = blocks.filter(({ text }) => (text.match(RULE) ?? []).some((r) => MESSAGE.test(r) && HERE.test(r)));
    assert.deepEqual([...new Set(here.map(({ path }) => path))], ['docs/tutorial/first-rule.md']);
    assert.match(readFileSync(join(ROOT, 'docs/tutorial/first-rule.md'), 'utf8'), /"instance": "localhost/);
  });

  test('would not pass without a limit', () => {
    const rule = 'when: event.source == "generic"\naction:\n  command: [df]\n  inventory: prod\n';
    assert.equal(unlimited(rule).length, 1);
    assert.equal(unlimited(`${rule}  limit: \${event.labels.instance}\n`).length, 0);
  });
});
