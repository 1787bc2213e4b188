import type { Terminal } from '../terminal.ts';
import { type Options, readToken } from '../context/options.ts';
import type { GivenFlags } from '../syntax/arguments.ts';
import type { Client } from './client.ts';

/** The client of the server or data directory that the options name; the caller closes it. Throws Failure. */
export async function openClient(terminal: Terminal, flags: GivenFlags, options: Options): Promise<Client> {
  const { remote: baseUrl, context } = options;
  if (baseUrl === null) {
    const [{ LocalClient }, { loadSettings }] = await Promise.all([
      import('./local.ts'),
      import('../../../config/settings/load-settings.ts'),
    ]);
    return new LocalClient(await loadSettings(flags, terminal.env), () => terminal.app());
  }
  const { RemoteClient } = await import('./remote.ts');
  const say = (text: string): void => void terminal.stderr.write(`${text}\n`);
  return new RemoteClient({ baseUrl, token: await readToken(flags, terminal, context), clock: terminal.clock, say });
}
