import type { FileEntry } from '../../domain/configuration/file.ts';
import { setManaged } from '../../store/configuration/managed.ts';
import type { ViewData } from '../../views/views.ts';
import type { WriteContext } from '../core/operation.ts';
import type { Part } from './part.ts';
import { placing, type Plan, requireSame } from './plan.ts';

type Webhooks = ViewData<'config.applied'>['webhooks'];

/** All changes of a plan, in the transaction that is open. Throws conflict where something has changed since. */
export async function applyParts(
  context: WriteContext,
  plan: Plan,
  parts: readonly { readonly part: Part; readonly entry: FileEntry | null }[],
): Promise<Webhooks> {
  const { tx } = context;
  await holdConfiguration(context, plan);
  const webhooks: Webhooks = [];
  for (const { part, entry } of parts) {
    const made = await placing(entry, () => part(context));
    if (made.shape === 'one' && made.kind === 'webhook.created')
      webhooks.push(made.data as ViewData<'webhook.created'>);
  }
  await setManaged(
    tx,
    plan.managed.map((row) => ({ ...row, applied_at: tx.now })),
  );
  return webhooks;
}

/** Two at a time would each write what differed before the other. Throws conflict where something has changed. */
export async function holdConfiguration({ tx, services }: WriteContext, { seen }: Plan): Promise<void> {
  await tx.dialect.lockKey(tx.db, 'config');
  await requireSame({ db: tx.db, services }, seen);
}

/** For the ledger. */
export function countsOf({ changes, managed }: Plan): Readonly<Record<string, number>> {
  const count = (word: string): number => changes.filter(({ change }) => change === word).length;
  return { added: count('add'), changed: count('change'), removed: count('remove'), managed: managed.length };
}
