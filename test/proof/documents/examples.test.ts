/**
 * The examples of the help, and the blocks of shell of README, how-tos, references and explanations, are run on one
 * daemon, and each command ends as the text says. The tutorials have another test.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, test } from 'node:test';
import { TREE } from '../../../src/faces/cli/syntax/tree.ts';
import { needs, TERRAFORM } from '../../support/tools.ts';
import { type Block, blocksOf, DOCUMENTS, type Step, stepsOf } from '../../documents/blocks.ts';
import { faultOf, type Line } from '../../documents/example.ts';
import { takeFiles } from '../../documents/files.ts';
import { Given } from '../../documents/given.ts';
import { isLeftOut, LEFT_OUT } from '../../documents/left-out.ts';
import { ADDRESS, openPlace, type Place, prepare } from '../../documents/place.ts';
import { patient } from '../../support/measure/slowness.ts';
import { LINE_LIMIT_MS, type Shell } from '../../documents/run.ts';

const PAGES = DOCUMENTS.filter((path) => !path.startsWith('docs/tutorial/'));
const MISSING = needs('ansible-playbook', 'git', 'openssl', 'ssh', 'sshd', TERRAFORM);
const skip = MISSING === false ? ADDRESS === undefined && 'no address but loopback' : MISSING;

const HELP: readonly Line[] = TREE.verbs.flatMap(({ path, examples }) =>
  examples.map((text) => ({ at: `svc ${path} --help`, text, command: text, exitCode: 0 })),
);

const shell: Shell = (text, { env, folder }) =>
  new Promise((resolve) => {
    const options = { env, cwd: folder, timeout: patient(LINE_LIMIT_MS) };
    const child = execFile('/bin/bash', ['-c', `set -o pipefail; ${text}`], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ code, stdout, shown: stdout + stderr });
    });
    child.stdin?.end();
  });

function shellOf(path: string): Block[] {
  return blocksOf(path).filter(({ language }) => language === 'sh');
}

/** A block that sets variables is one script, and so is a file that begins with its interpreter. */
function partsOf(block: Block): readonly Step[] {
  const steps = stepsOf(block);
  const isScript = block.text.startsWith('#!') || steps.some(({ command }) => /^(\w+=|export )/.test(command));
  return isScript ? [{ line: block.line, text: block.text, command: block.text }] : steps;
}

function linesOf(block: Block): Line[] {
  const parts = partsOf(block);
  return parts.map(({ line, text, command }, at) => ({
    at: `${block.path}:${line}`,
    text,
    command,
    exitCode: at === parts.length - 1 ? block.exitCode : 0,
  }));
}

/** What is wrong with the blocks of a page. */
async function faultsOf(path: string, place: Place, given: Given): Promise<string[]> {
  const faults: string[] = [];
  takeFiles(path, place);
  given.folder = place.folder;
  for (const block of shellOf(path)) {
    const lines = linesOf(block).filter(({ command }) => !isLeftOut(command));
    if (lines.length > 0) await prepare(place);
    for (const line of lines) faults.push(...(await faultOf(given, line)));
  }
  return faults;
}

async function helpFaults(given: Given): Promise<string[]> {
  const faults: string[] = [];
  for (const line of HELP.filter(({ command }) => !isLeftOut(command))) {
    await prepare(given.place);
    faults.push(...(await faultOf(given, line)));
  }
  return faults;
}

describe('The documents and the help', () => {
  test('show commands that do what the text says', { skip }, async (t) => {
    const place = await openPlace(t, shell);
    const given = new Given(place);
    const faults = await helpFaults(given);
    for (const path of PAGES) faults.push(...(await faultsOf(path, place, given)));
    assert.equal(faults.join('\n'), '');
  });

  test('show few commands that are not run, and each reason is still needed', () => {
    const commands = PAGES.flatMap(shellOf).flatMap(linesOf);
    const all = [...commands, ...HELP].map(({ command }) => command.trim());
    assert.ok(all.length > 480, `only ${all.length} commands were found`);
    for (const [pattern, why] of LEFT_OUT)
      assert.ok(
        all.some((text) => pattern.test(text)),
        `${pattern}: ${why}`,
      );
    const left = all.filter(isLeftOut);
    assert.ok(left.length < 60, `${left.length} of ${all.length} commands are not run:\n${left.join('\n')}`);
  });
});
