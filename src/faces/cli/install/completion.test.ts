import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { needs } from '../../../../test/support/tools.ts';
import { completionScript, type Shell, SHELLS } from './completion.ts';
import { TREE } from '../syntax/tree.ts';

/** In the place of the program: answers what `svc complete` would for two command lines. */
const STAND_IN = [
  'svc() { case "$*" in',
  "'complete -- job get job_'*|'complete -- schedule add x --apply '*) echo job_1; echo net;;",
  'esac; }\n',
].join('\n');

interface Driver {
  readonly args: readonly string[];
  /** In front of the script. */
  readonly before?: string;
  readonly text: string;
}

/**
 * Each prints, for each of its arguments, the words that the script proposes at the end of that
 * command line, and an empty line. The function that zsh calls to propose words works within its editor only.
 */
const DRIVERS: Readonly<Record<Shell, Driver>> = {
  bash: {
    args: [],
    text: `${STAND_IN}for line; do COMP_WORDS=($line); [[ $line == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _svc; printf '%s\\n' "\${COMPREPLY[@]}" ''; done`,
  },
  zsh: {
    args: ['-f'],
    before: 'compdef() { : }',
    text: `${STAND_IN}compadd() { if [[ $1 == -a ]]; then print -l -- \${(P)2}; else shift; print -l -- "$@"; fi }
_files() { : }
for line; do words=("\${(@s: :)line}"); CURRENT=$#words
_svc | while read -r word; do [[ $word == "$words[CURRENT]"* ]] && print -r -- $word; done; print; done`,
  },
  fish: {
    args: ['--no-config'],
    text: `function svc
  string match -qr -- '^complete -- (job get job_|schedule add x --apply )' "$argv"; and printf '%s\\n' job_1 net
end
for line in $argv; complete -C $line | string replace -r '\\t.*' ''; echo; end`,
  },
};

const PROPOSED: Readonly<Record<string, readonly string[]>> = {
  'svc to': ['token'],
  'svc token ': ['list', 'create', 'revoke'],
  'svc job red': ['redrive'],
  'svc notify ': ['endpoint', 'key', 'test'],
  'svc notify endpoint ': ['list', 'add', 'remove'],
  'svc token create --sc': ['--scope'],
  'svc token create --scope ': ['readonly', 'operator', 'approve', 'host'],
  'svc job redrive --state i': ['interrupted'],
  'svc job list --state i': ['interrupted'],
  'svc check add web --kind t': ['tcp', 'tls'],
  'svc check add web --op ': ['<', '<=', '>', '>=', '==', '!='],
  'svc --output ': ['text', 'json'],
  'svc --output json ser': ['serve'],
  'svc completion ': ['bash', 'zsh', 'fish'],
  'svc serve --web': ['--web-addr'],
  // Nothing after --, and nothing for a free value.
  'svc command run -- -': [],
  'svc job list --limit ': [],
  // Names of things are asked of svc, with all words up to the cursor.
  'svc job get job_': ['job_1'],
  'svc schedule add x --apply ': ['job_1', 'net'],
  'svc job get other': [],
  'svc job list ': [],
};

for (const shell of SHELLS)
  test(`${shell} completes nouns, verbs, flags, values and names`, { skip: shell !== 'bash' && needs(shell) }, (t) => {
    const { args, before = '', text } = DRIVERS[shell];
    const lines = Object.keys(PROPOSED);
    const dir = mkdtempSync(join(tmpdir(), 'gatehouse-completion-'));
    t.after(() => rmSync(dir, { recursive: true }));
    const file = join(dir, shell);
    writeFileSync(file, [before, completionScript(TREE, shell), text, ''].join('\n'));
    const printed = execFileSync(shell, [...args, file, ...lines], { encoding: 'utf8' });
    const found = printed.split(/^\n/m).map((block) => block.split('\n').filter(Boolean).toSorted());
    assert.deepEqual(
      Object.fromEntries(lines.map((line, at) => [line, found[at]])),
      Object.fromEntries(Object.entries(PROPOSED).map(([line, words]) => [line, words.toSorted()])),
    );
  });

test('point 37: the script of each shell names every verb and every flag', () => {
  for (const shell of SHELLS) {
    const script = completionScript(TREE, shell);
    for (const verb of TREE.verbs) {
      for (const word of verb.path.split(' ')) assert.ok(script.includes(word), `${shell}: ${verb.path}`);
      for (const flag of verb.flags)
        assert.ok(
          script.includes(shell === 'fish' ? ` -l ${flag.name}` : `--${flag.name}`),
          `${shell}: ${verb.path} --${flag.name}`,
        );
    }
  }
});
