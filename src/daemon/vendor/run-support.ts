import { vendorKind } from '../../domain/vendor/kind.ts';
import { Failure } from '../../domain/failure.ts';
import { VendoredFiles } from '../../runners/vendor/vendored-files.ts';
import { vendorRunner, type VendorResult } from '../../runners/vendor/vendor.ts';
import type { JobRow, SourceRow } from '../../store/schema/schema.ts';
import { findSource, listSources, rootsOfSource } from '../../store/sources/sources.ts';
import { NO_RESULT, NOTHING_PREPARED, type RunDeps, runKind } from '../jobs/run-support.ts';
import { sourceTree } from '../sources/source-tree.ts';
import { countsOf, recordVendored } from './record.ts';
import { vendoredOf } from './vendored-of.ts';

export const VENDOR_RUN = runKind(vendorKind, vendorRunner, {
  async prepare(deps, job, { source: name }, signal) {
    const vendored = filesOf(deps);
    const { tree, source } = await sourceTree(deps, { job, name }, signal);
    const roots = await rootsOfSource(deps.store.db, name);
    return {
      ...NOTHING_PREPARED,
      materials: {
        tree,
        plugins: source.plugins === 1,
        roots,
        stage: () => vendored.stage(job.id),
        settle: (result) => settle(deps, job, source, result),
      },
      async finish({ result }) {
        if (result === undefined) await vendored.unstage(job.id).catch(() => undefined);
        return result === undefined ? NO_RESULT : (tx) => recordVendored(tx, job, name, result);
      },
    };
  },
  async recover(deps, job) {
    await filesOf(deps)
      .unstage(job.id)
      .catch(() => undefined);
    return null;
  },
  dependencies: (deps, job, source) => vendoredOf(filesOf(deps), job, source),
});

function filesOf({ runsDir, account, clock }: RunDeps): VendoredFiles {
  return new VendoredFiles(runsDir, account, clock);
}

/** Later runs use the files from here on, also if this daemon has lost the job: the source declares the same ones. */
async function settle(deps: RunDeps, job: JobRow, source: SourceRow, result: VendorResult): Promise<void> {
  const { store } = deps;
  const vendored = filesOf(deps);
  const { name, created_at: createdAt } = source;
  if ((await findSource(store.db, name))?.created_at !== createdAt)
    throw new Failure('conflict', `Source ${name} was removed while its files were fetched.`);
  await vendored.settle(source, {
    source_created_at: createdAt,
    job_id: job.id,
    made_at: job.started_at ?? job.created_at,
    requirements: result.requirements,
    ...countsOf(result),
  });
  const known = await listSources(store.db);
  // The next job tries again.
  await vendored.keepOnly(new Set(known.map((each) => each.name))).catch(() => undefined);
}
