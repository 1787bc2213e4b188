import { Failure } from '../../domain/failure.ts';
import type { Vendored, VendoredFiles } from '../../runners/checkout/vendored/vendored-files.ts';
import type { JobRow, SourceRow } from '../../store/schema/schema.ts';

interface VendoredDeps {
  readonly vendored: Pick<VendoredFiles, 'find'>;
}

/**
 * What was vendored for a source, for the run of a job; null without any. Throws conflict where a vendor job that began
 * after a request has replaced what its approval was about, and unavailable as `find` does.
 */
export async function vendoredOf(
  { vendored }: VendoredDeps,
  { pinned, created_at: askedAt }: Pick<JobRow, 'pinned' | 'created_at'>,
  source: SourceRow,
): Promise<Vendored | null> {
  const found = await vendored.find(source);
  if (pinned === null || found === null || found.manifest.made_at <= askedAt) return found;
  throw new Failure(
    'conflict',
    `The vendored files of source ${source.name} were fetched after this job was asked for. Nothing was run.`,
  );
}
