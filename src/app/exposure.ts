import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { decidingFiles, openDecidingFiles } from '../config/settings/deciding-files.ts';
import { isLoopback, type ListenAddress } from '../config/settings/listen-address.ts';
import { processEnvironment } from '../config/settings/settings.ts';
import { Failure } from '../domain/failure.ts';
import { openingText } from '../lib/files/closed.ts';
import type { Log } from '../lib/log.ts';
import { openFolders } from '../lib/programs/search-path.ts';
import { pathsThatExpose } from '../runners/sandbox/policy.ts';
import { countActiveTokens } from '../store/access/tokens.ts';
import type { Base } from './base.ts';

/** Settings that expose the service, with which a program refuses to start. */

/** Without a token, only this machine may reach the listeners. */
export async function refuseOpenDoor(base: Base, at: ListenAddress, flag: string): Promise<void> {
  if (isLoopback(at.host) || (await countActiveTokens(base.store.db, base.clock.now())) > 0) return;
  throw new Failure(
    'invalid_argument',
    `--${flag}: ${at.host} can be reached from outside and no token is active: make one with "svc token create" ` +
      'first, or listen on 127.0.0.1.',
  );
}

/** The daemon's checks. The sandbox lets jobs read the system's folders: nothing below one is hidden from them. */
export async function refuseExposed(base: Base): Promise<void> {
  const { paths, settings } = base;
  await refuseOpenDoor(base, settings.webAddr, 'web-addr');
  const secrets = [
    { flag: 'data-dir', path: paths.dir },
    { flag: 'seal-key-file', path: await resolvedFile(paths.sealKey) },
  ];
  for (const { flag, path } of secrets) {
    const [exposing] = pathsThatExpose(path, { readable: [], writable: [] });
    if (exposing === undefined) continue;
    throw new Failure(
      'invalid_argument',
      `--${flag}: ${path} lies below ${exposing}, which every job may read; choose another place.`,
    );
  }
}

/** Without links; a file that is not there yet will be made in its folder. */
async function resolvedFile(path: string): Promise<string> {
  const folder = async (): Promise<string> => join(await realpath(dirname(path)), basename(path));
  return realpath(path)
    .catch(folder)
    .catch(() => path);
}

/** For a service that is not root: what other accounts can change of what it relies on. The doctor names it too. */
export function logOpenings({ settings, paths }: Base, log: Log): void {
  for (const { flag, path, opening } of openDecidingFiles(decidingFiles(settings, paths.sealKey)))
    log.warn(
      { flag, path, opening: openingText(opening) },
      'another account can change what a file of the service says',
    );
  for (const opening of openFolders(processEnvironment()['PATH'] ?? ''))
    log.warn({ opening: openingText(opening) }, 'no program is taken from this folder of the PATH');
}
