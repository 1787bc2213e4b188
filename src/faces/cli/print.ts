import { encode } from '../../operations/core/envelope.ts';
import type { Session } from './connection/session.ts';
import { write } from './terminal.ts';

/** Shows what a program of this machine answers: an envelope of `kind` in JSON mode, else `text`. Resolves to 0. */
export async function print(
  { terminal, options }: Pick<Session, 'terminal' | 'options'>,
  kind: string,
  data: unknown,
  text: () => string,
): Promise<number> {
  await write(terminal.stdout, options.output === 'json' ? encode(kind, data) : text());
  return 0;
}
