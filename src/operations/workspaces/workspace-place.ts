import * as z from 'zod';
import { Failure } from '../../domain/failure.ts';
import { isSafeSubpath } from '../../domain/sources/subpath.ts';
import type { NewWorkspace } from '../../store/workspaces/workspaces.ts';
import * as field from '../core/fields.ts';
import type { Context } from '../core/operation.ts';
import { realDirectory } from '../sources/real-directory.ts';
import { placeOfNamed } from '../../store/sources/source-place.ts';

/** Where the root of a workspace is. */

/** What a path of the operating system may have at most. */
const PATH_BYTES_MAX = 4_096;

/** Where the root is: a directory of this machine, or a source and a folder below its root. */
export const PLACE = {
  dir: z.string().min(1, { error: 'expected a directory' }).optional().describe('Directory on this machine'),
  source: field.name.optional().describe('Registered source that contains the files'),
  path: z.string().optional().describe('Folder in the source; default its root'),
};

type Place = Pick<NewWorkspace, 'source' | 'path'> & { readonly dir_kept: string | null };

interface GivenPlace {
  readonly dir?: string | undefined;
  readonly source?: string | undefined;
  readonly path?: string | undefined;
}

/** Exactly one place. Throws invalid_argument. Whether the source exists is seen in the write, which holds it. */
export async function placeOf(context: Context, { dir, source, path }: GivenPlace): Promise<Place> {
  if ((dir === undefined) === (source === undefined)) {
    throw new Failure('invalid_argument', 'dir, source: expected exactly one of the two.');
  }
  if (source !== undefined) return { source, path: checkedSubpath(path), dir_kept: null };
  if (path !== undefined)
    throw new Failure('invalid_argument', 'path: allowed only with source; with dir, name the folder in dir.');
  return { source: null, ...(await checkedDirectory(context, dir ?? '')) };
}

/** Empty is the root of the source itself. */
function checkedSubpath(path = ''): string {
  if (path === '' || isSafeSubpath(path)) return path;
  throw new Failure(
    'invalid_argument',
    'path: expected a folder below the root of the source, such as roots/net, without "..".',
  );
}

async function checkedDirectory({ services }: Context, dir: string): Promise<Pick<Place, 'path' | 'dir_kept'>> {
  const path = await realDirectory(dir);
  if (Buffer.byteLength(path) > PATH_BYTES_MAX)
    throw new Failure('invalid_argument', `dir: expected a path of at most ${PATH_BYTES_MAX} bytes.`);
  // A run copies what is there, as it does of a source: it must exist, and nothing of the service may be among it.
  const fetched = await services.sources.fetch(placeOfNamed(path, null));
  return { path, dir_kept: fetched.dirKept };
}

/** A path alone moves within the source that the workspace has. */
export async function newPlace(
  context: Context,
  given: GivenPlace,
  now: Pick<Place, 'source'>,
): Promise<Partial<Place>> {
  const { dir, source, path } = given;
  if (dir === undefined && source === undefined && path === undefined) return {};
  if (dir !== undefined || source !== undefined) return placeOf(context, given);
  return placeOf(context, { source: now.source ?? undefined, path });
}
