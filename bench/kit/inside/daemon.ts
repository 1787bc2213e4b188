/** A whole daemon inside a child program of the bench. */
import type { Running } from '../../../src/app/run/ready.ts';
import { startServe } from '../../../src/app/serve.ts';
import { readSettings } from '../../../src/config/settings/read-settings.ts';
import { localCaller } from '../../../src/domain/access/caller.ts';
import { invoke } from '../../../src/operations/core/invoke.ts';
import { OPERATIONS } from '../../../src/operations/table.ts';
import { runsDirFor } from '../scratch.ts';

/** On free ports of loopback. */
export function startInside(dataDir: string): Promise<Running> {
  const flags = {
    'data-dir': dataDir,
    'web-addr': '127.0.0.1:0',
    'ingress-addr': '127.0.0.1:0',
    'runs-dir': runsDirFor(dataDir),
  };
  return startServe(readSettings(flags, {}));
}

/** A new token with the scope operator. */
export async function tokenOf({ runtime }: Running): Promise<string> {
  const operation = OPERATIONS.find(({ id }) => id === 'token.create');
  if (operation === undefined) throw new Error('there is no operation token.create');
  const raw = { name: 'bench', scope: 'operator' };
  const answer = await invoke(runtime, operation, { caller: localCaller('bench'), raw });
  return answer.shape === 'body' ? (answer.data as { token: string }).token : '';
}
