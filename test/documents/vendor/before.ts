import type { Given } from '../given.ts';

/** A source that declares something to fetch. */
const vendored = ({ place }: Given): Promise<unknown> =>
  place.call('workspace.add', { name: 'vendored', source: 'ops', path: 'roots/prod' }).catch(() => undefined);

export const BEFORE_VENDOR = [/^svc vendor/, vendored] as const;
