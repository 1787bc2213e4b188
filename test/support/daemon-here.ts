/**
 * The whole daemon in the process of the test, as `svc serve` assembles it: it is ready ten times as fast as a process.
 * A test that kills or freezes a daemon, or reads its log, starts it as a process (daemon.ts).
 */
import { readSettings } from '../../src/config/settings/read-settings.ts';
import { startServe } from '../../src/app/serve.ts';
import { type Api, createApi } from './api-client.ts';
import { type DaemonFlags, type Ready, runsDirFor } from './daemon.ts';
import { VERSION } from '../../src/version.ts';

/** What a daemon of this process can be given. Its `env` is read for settings only. */
export type FlagsHere = Pick<DaemonFlags, 'dataDir' | 'databaseUrl' | 'sealKeyFile' | 'args' | 'env'>;

export interface DaemonHere {
  readonly ready: Ready;
  api(token: string): Api;
  /** Resolves when it has ended. May be called twice. */
  stop(): Promise<void>;
}

export async function startDaemonHere(flags: FlagsHere): Promise<DaemonHere> {
  const env = { ...flags.env, ...(flags.databaseUrl ? { SVC_DATABASE_URL: flags.databaseUrl } : {}) };
  const settings = readSettings(
    {
      'data-dir': flags.dataDir,
      'seal-key-file': flags.sealKeyFile,
      'runs-dir': runsDirFor(flags.dataDir),
      'web-addr': '127.0.0.1:0',
      'ingress-addr': '127.0.0.1:0',
      ...flagValues(flags.args ?? []),
    },
    env,
  );
  const running = await startServe(settings);
  const ready = {
    web_url: running.webUrl,
    ingress_url: running.ingressUrl ?? '',
    data_dir: settings.dataDir,
    pid: process.pid,
    version: VERSION,
  };
  return { ready, api: (token) => createApi(ready.web_url, token), stop: () => running.stop() };
}

/** Words such as `--base-path /ops`, each flag with its value. */
function flagValues(args: readonly string[]): Record<string, string> {
  const values: Record<string, string> = {};
  for (let at = 0; at < args.length; at += 2) {
    const [flag = '', value] = args.slice(at, at + 2);
    if (!flag.startsWith('--') || value === undefined) throw new Error(`${flag}: expected a flag and its value`);
    values[flag.slice(2)] = value;
  }
  return values;
}
