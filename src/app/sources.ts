import type { SourceFetcher } from '../operations/services.ts';

const refuse = (): never => {
  throw new Error('sources are not built yet');
};

/** Not built yet. */
export function createSourceFetcher(_sourcesDir: string): SourceFetcher {
  return { fetch: refuse, treeOf: refuse, remove: refuse };
}
