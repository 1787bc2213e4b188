/** The tool by itself: the same commands on the same root, without anybody around them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanEnvironment, start } from '../kit/scratch.ts';
import { monotonicMs } from '../kit/time.ts';

const ENVIRONMENT = { TF_IN_AUTOMATION: '1', TF_INPUT: '0', CHECKPOINT_DISABLE: '1', TF_CLI_CONFIG_FILE: '/dev/null' };
const COMMON = ['-input=false', '-no-color'];

/** A root of `count` resources that hold `input`, an expression. */
export function writeRoot(dir: string, count: number, input: string, rest = ''): void {
  mkdirSync(dir, { recursive: true });
  writeFileSync(
    join(dir, 'main.tf'),
    `resource "terraform_data" "item" {\n  count = ${count}\n  input = ${input}\n${rest}}\n`,
  );
}

/** Runs one command to its end; answers its time in milliseconds. Its output is read and dropped. */
async function tool(dir: string, words: readonly string[]): Promise<number> {
  const before = monotonicMs();
  const child = start('terraform', words, {
    cwd: dir,
    env: { ...cleanEnvironment(), ...ENVIRONMENT },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout?.resume();
  const code = await new Promise((resolve) => void child.once('close', resolve));
  if (code !== 0) throw new Error(`terraform ${words.join(' ')} ended with ${String(code)}`);
  return monotonicMs() - before;
}

/** init, plan -out, show -json. */
export async function barePlan(dir: string): Promise<number> {
  const initMs = await tool(dir, ['init', ...COMMON]);
  const planMs = await tool(dir, ['plan', ...COMMON, '-out=p.tfplan']);
  return initMs + planMs + (await tool(dir, ['show', '-json', 'p.tfplan']));
}

/** apply of a plan that is there. */
export function bareApplySaved(dir: string): Promise<number> {
  return tool(dir, ['apply', ...COMMON, 'p.tfplan']);
}

/** init and apply. */
export async function bareApplyFresh(dir: string): Promise<number> {
  return (await tool(dir, ['init', ...COMMON])) + (await tool(dir, ['apply', ...COMMON, '-auto-approve']));
}
