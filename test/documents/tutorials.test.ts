/**
 * The tutorials, done as a reader does them: each block of shell in a new terminal, in the folder where the last
 * one ended. What the reader copies from an output (job_…, apr_…, URL) is the last one that was shown.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { startDaemon } from '../support/daemon.ts';
import { needs, TERRAFORM } from '../support/tools.ts';
import { type Block, blocksOf, ROOT, stepsOf } from './blocks.ts';

/** Where the tutorials find the daemon; a test lets the system choose the port. */
const DEFAULT_URL = 'http://127.0.0.1:8420';
const START = 'npm start';
const ID = /\b(job|evt|apr|art|sil|mut)_[0-9a-z]{6,}/g;
const TOKEN = /\bsvc_[A-Za-z0-9_-]{20,}/g;
const HOOK = /http:\/\/\S+\/hook\/\S+/g;
const BLOCK_LIMIT_MS = 90_000;

interface Reader {
  /** A terminal in the clone. */
  readonly begin: () => void;
  /** Does what the block says. Throws where it ends otherwise than the tutorial says. */
  readonly do: (block: Block) => Promise<void>;
  /** All that was shown so far. */
  readonly shown: () => string;
}

async function reader(t: TestContext): Promise<Reader> {
  const home = mkdtempSync(join(tmpdir(), 'gatehouse-tutorial-'));
  const clone = join(home, 'clone');
  mkdirSync(clone);
  // As a package: the command starts with half of the processor time.
  const program = process.env['GATEHOUSE_MAIN'] === undefined ? 'src' : 'dist';
  for (const name of ['bin', program, 'node_modules', 'package.json', 'migrations'])
    symlinkSync(join(ROOT, name), join(clone, name));
  const dataDir = join(home, '.local', 'share', 'gatehouse');
  // The account of jobs does not get into a home directory.
  const daemon = await startDaemon({ dataDir, args: ['--runs-dir', `${home}-runs`] });
  t.after(async () => {
    await daemon.stop();
    for (const each of [home, `${home}-runs`]) rmSync(each, { recursive: true, force: true });
  });
  const env = {
    PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
    HOME: home,
    LANG: 'C.UTF-8',
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
  };
  /** What the terminal of this block has exported. */
  const exported = join(home, 'exported');
  let cwd = clone;
  // A first start in a terminal shows one.
  let output = (await run(`${clone}/bin/svc token create --name me --scope operator`, env)).shown;
  const last = (pattern: RegExp): string | undefined => output.match(pattern)?.at(-1);
  const copied = (text: string): string =>
    text
      .replaceAll(DEFAULT_URL, daemon.ready.web_url)
      .replaceAll(
        /\b(job|evt|apr|art|sil|mut)_…/g,
        (_, prefix: string) =>
          output.match(ID)?.findLast((id) => id.startsWith(prefix)) ?? assert.fail(`no ${prefix}_ was shown`),
      )
      .replaceAll('svc_…', () => last(TOKEN) ?? assert.fail('no token was shown'))
      .replaceAll(/\bURL\b/g, () => last(HOOK) ?? assert.fail('no URL of a webhook was shown'));
  return {
    begin: () => void (cwd = clone),
    shown: () => output,
    do: async (block) => {
      rmSync(exported, { force: true });
      // The daemon runs already.
      const steps = stepsOf(block).filter(({ command }) => command !== START);
      for (const [at, { line, text }] of steps.entries()) {
        // The clone is on the PATH of every terminal that the reader opens.
        const script = `PATH="${clone}/bin:$PATH"; cd "${cwd}"; [ ! -e "${exported}" ] || . "${exported}"
trap 'export -p > "${exported}"; pwd >&3' EXIT
${copied(text)}`;
        const ended = await run(script, env);
        output += ended.shown;
        cwd = ended.cwd;
        const expected = at === steps.length - 1 ? block.exitCode : 0;
        assert.equal(ended.code, expected, `${block.path}:${line}\n${script}\n${ended.shown}`);
      }
    },
  };
}

function run(script: string, env: NodeJS.ProcessEnv): Promise<{ code: number | null; shown: string; cwd: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/bash', ['-c', script], {
      env,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      timeout: BLOCK_LIMIT_MS,
    });
    const texts = ['', '', '', ''];
    for (const at of [1, 2, 3]) child.stdio[at]?.on('data', (chunk: Buffer) => (texts[at] += chunk.toString()));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, shown: `${texts[1]}${texts[2]}`, cwd: texts[3]?.trim() ?? '' }));
  });
}

/** What was shown while the tutorial was followed. */
async function followed({ begin, do: follow, shown }: Reader, name: string): Promise<string> {
  const before = shown().length;
  begin();
  for (const block of blocksOf(`docs/tutorial/${name}.md`)) if (block.language === 'sh') await follow(block);
  return shown().slice(before);
}

describe('The tutorials', () => {
  test('can be done one after the other', { timeout: 300_000 }, async (t) => {
    const person = await reader(t);
    const job = await followed(person, 'first-job');
    assert.match(job, /Permission denied/);
    assert.match(job, /"kind":"job.list"/);

    const rule = await followed(person, 'first-rule');
    for (const word of ['ignored', 'gated', 'suppressed', 'Mounted on']) assert.ok(rule.includes(word), word);

    if (needs(TERRAFORM) !== false) return;
    const plan = await followed(person, 'first-plan');
    assert.match(plan, /1 to destroy/);
    assert.match(plan, /The workspace moved on after the plan art_/);
  });

  test('leave nothing in the clone', () => {
    const written = /(?:>|mkdir(?: -p)?) *(?!~|\/)[\w.]/;
    for (const name of ['first-rule', 'first-plan', 'first-check', 'first-playbook']) {
      const text = readFileSync(join(ROOT, 'docs', 'tutorial', `${name}.md`), 'utf8');
      assert.ok(
        text.search(/cd ~\//) >= 0 && text.search(/cd ~\//) < text.search(written),
        `${name} writes into the clone`,
      );
    }
  });
});
