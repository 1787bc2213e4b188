import { statSync } from 'node:fs';
import { isReadByOthers, openingOf, openingText } from '../../../lib/files/closed.ts';
import { line } from '../../text/safe.ts';
import type { Terminal } from '../terminal.ts';

type Warned = Pick<Terminal, 'stderr'>;

/** A token that others can read still works, so this is no refusal. `from` names the flag or the variable. */
export function warnOfReaders(file: string, from: string, { stderr }: Warned): void {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined || !stats.isFile() || !isReadByOthers(stats)) return;
  stderr.write(line(`Warning: ${from}: other accounts can read the token in ${file}: chmod 600 ${file}`));
}

/** For an account that is not root, which reads such a file of a context all the same. */
export function warnOfWriters(file: string, { stderr }: Warned): void {
  const opening = openingOf(file);
  if (opening !== null) stderr.write(line(`Warning: other accounts can change a context: ${openingText(opening)}`));
}
