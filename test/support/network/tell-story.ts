import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { OWN_MOUNTS } from '../tools.ts';

/** Runs a program of ours in separate namespaces of network and mounts. Answers what it wrote, which is JSON. */
export async function tellStory(file: string): Promise<unknown> {
  const argv = [...OWN_MOUNTS, '-n', process.execPath, '--disable-warning=ExperimentalWarning', file];
  const child = spawn('unshare', argv, { stdio: ['ignore', 'pipe', 'pipe'] });
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  assert.equal(errors, '');
  return JSON.parse(output);
}
