/**
 * A reader of the tutorials: each block of shell is done in a new terminal, in the folder where the last one ended.
 * What the reader copies from an output (job_…, apr_…, URL) is the last one that was shown.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { startDaemon } from '../support/daemon.ts';
import { type Block, blocksOf, ROOT, type Step, stepsOf } from './blocks.ts';

/** Where the tutorials find the daemon; a test lets the system choose the port. */
const DEFAULT_URL = 'http://127.0.0.1:8420';
const START = 'npm start';
const ID = /\b(job|evt|apr|art|sil|mut)_[0-9a-z]{6,}/g;
const TOKEN = /\bsvc_[A-Za-z0-9_-]{20,}/g;
const HOOK = /http:\/\/\S+\/hook\/\S+/g;

/** What a tutorial finds elsewhere on the machine of a test. */
export interface Place {
  /** What the reader types instead of a command: other ports, the answer to a question. */
  readonly typed?: (text: string) => string;
  /** A program that does not end, instead of a command of this text; returns false for every other one. */
  readonly begin?: (text: string) => boolean;
  /** What the reader does, or waits for, before a step. */
  readonly before?: (step: Step) => Promise<void>;
}

export interface Reader {
  /** A terminal in the clone. */
  readonly begin: () => void;
  /** Does what the block says, at this place. Throws where it ends otherwise than the tutorial says. */
  readonly do: (block: Block, at: Place) => Promise<void>;
  /** What a command shows that no tutorial has. */
  readonly look: (command: string) => Promise<string>;
  /** All that was shown so far. */
  readonly shown: () => string;
}

/** Starts bash with a script; only a test may. */
export type Run = (script: string, env: NodeJS.ProcessEnv) => Promise<Ended>;

interface Ended {
  readonly code: number | null;
  readonly shown: string;
  /** The folder that it was in at its end. */
  readonly cwd: string;
}

export async function reader(t: TestContext, run: Run): Promise<Reader> {
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
    look: async (command) => (await run(`PATH="${clone}/bin:$PATH"; ${command}`, env)).shown,
    shown: () => output,
    do: async (block, { typed = (text) => text, begin = () => false, before = async () => undefined }) => {
      rmSync(exported, { force: true });
      // The daemon runs already.
      const steps = stepsOf(block).filter(({ command }) => command !== START);
      for (const [at, step] of steps.entries()) {
        await before(step);
        const { line, text } = step;
        // The clone is on the PATH of every terminal that the reader opens. The next step has the variables as well.
        const script = `set -a; PATH="${clone}/bin:$PATH"; cd "${cwd}"; [ ! -e "${exported}" ] || . "${exported}"
trap 'export -p > "${exported}"; pwd >&3' EXIT
${copied(typed(text))}`;
        if (begin(script)) continue;
        const ended = await run(script, env);
        output += ended.shown;
        cwd = ended.cwd;
        const expected = at === steps.length - 1 ? block.exitCode : 0;
        assert.equal(ended.code, expected, `${block.path}:${line}\n${script}\n${ended.shown}`);
      }
    },
  };
}

/** What was shown while the tutorial was followed. */
export async function followed({ begin, do: follow, shown }: Reader, name: string, at: Place = {}): Promise<string> {
  const before = shown().length;
  begin();
  for (const block of blocksOf(`docs/tutorial/${name}.md`)) if (block.language === 'sh') await follow(block, at);
  return shown().slice(before);
}
