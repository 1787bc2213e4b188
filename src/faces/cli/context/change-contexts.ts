import { mkdir, readdir, unlink } from 'node:fs/promises';
import type { Environment } from '../../../config/settings/settings.ts';
import { Failure } from '../../../domain/failure.ts';
import { createExclusive, writeFileAtomic } from '../../../lib/atomic-file.ts';
import {
  absent,
  type Context,
  CONTEXTS_MAX,
  currentName,
  fileOf,
  LOCAL,
  type Place,
  placeOf,
  refuseOpen,
} from './contexts.ts';

// Apart from what reads contexts, which every verb does: random names need node:crypto, a third of the start of --help.

const FILE_MODE = 0o600;
const DIR_MODE = 0o700;

/** Throws invalid_argument if there is no place for contexts, and for root if another account can change it. */
function requirePlace(env: Environment): Place {
  const place = placeOf(env);
  if (place === null) throw new Failure('invalid_argument', 'XDG_CONFIG_HOME or HOME: needed to keep contexts.');
  for (const path of [place.dir, place.current]) refuseOpen(path);
  return place;
}

/** Throws conflict if the name is in use. */
export async function addContext(env: Environment, { name, url, token }: Context): Promise<void> {
  const place = requirePlace(env);
  await mkdir(place.dir, { recursive: true, mode: DIR_MODE });
  if ((await readdir(place.dir)).length >= CONTEXTS_MAX)
    throw new Failure('conflict', `There are ${CONTEXTS_MAX} contexts already.`);
  if (!(await createExclusive(fileOf(place, name), `${JSON.stringify({ url, token })}\n`, FILE_MODE)))
    throw new Failure('conflict', `There is a context ${name} already; remove it first.`);
}

/** Makes `name`, or with LOCAL this machine, the one that verbs without a flag mean. */
export async function useContext(env: Environment, name: string): Promise<void> {
  const place = requirePlace(env);
  await mkdir(place.dir, { recursive: true, mode: DIR_MODE });
  await writeFileAtomic(place.current, `${name}\n`, FILE_MODE);
}

/** Throws not_found. The one in use is no longer in use. */
export async function removeContext(env: Environment, name: string): Promise<void> {
  const place = requirePlace(env);
  if ((await currentName(env)) === name) await useContext(env, LOCAL);
  const gone = await unlink(fileOf(place, name)).then(
    () => true,
    absent(() => false),
  );
  if (!gone) throw new Failure('not_found', `There is no context ${JSON.stringify(name)}.`);
}
