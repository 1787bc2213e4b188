import { Failure } from '../../domain/failure.ts';
import type { Dependencies } from '../../domain/sources/source.ts';
import { notesOn } from '../../runners/vendor/requirements.ts';
import type { VendoredFiles } from '../../runners/vendor/vendored-files.ts';
import type { JobRow, SourceRow } from '../../store/schema/schema.ts';

/**
 * What was vendored for a source, for the run of a job; null without any. Throws conflict where a vendor job that began
 * after a request has replaced what its approval was about, and unavailable as `find` does.
 */
export async function vendoredOf(
  files: Pick<VendoredFiles, 'find'>,
  { pinned, created_at: askedAt }: Pick<JobRow, 'pinned' | 'created_at'>,
  source: SourceRow,
): Promise<Dependencies | null> {
  const found = await files.find(source);
  if (found === null) return null;
  const { path, manifest } = found;
  if (pinned !== null && manifest.made_at > askedAt)
    throw new Failure(
      'conflict',
      `The vendored files of source ${source.name} were fetched after this job was asked for. Nothing was run.`,
    );
  return { path, hasProviders: manifest.providers > 0, notes: (runDir) => notesOn(manifest, runDir) };
}
