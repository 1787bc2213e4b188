import { hasTargetCredential } from './flag-credential.ts';
import { readOperatorFile } from './private-file.ts';

/** The targets in the file of `--notify-file`: one a line; an empty line and one that begins with `#` are skipped. */
export async function readNotifyFile(path: string | null): Promise<string[]> {
  if (path === null) return [];
  const { text, requirePrivate } = await readOperatorFile('notify-file', path);
  const targets = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  if (targets.some(hasTargetCredential)) requirePrivate();
  return targets;
}
