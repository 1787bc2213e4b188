import { keyOf, type TaggedTable } from '../../../src/store/engine/tags/forms.ts';
import { tagOf } from '../../../src/store/engine/tags/tags.ts';
import type { Store } from '../../../src/store/store.ts';

/** Changes the rows of a table, or the one of this key, with their tags: as only the service can. */
export function rewrite(store: Store, table: TaggedTable, changes: object, key?: string): Promise<void> {
  const names = keyOf(table) as readonly 'name'[];
  return store.write(async ({ db, ring }) => {
    // Any of them: each has the columns that are used here.
    const rows = await db
      .selectFrom(table as 'sources')
      .selectAll()
      .execute();
    for (const row of rows.filter((each) => key === undefined || names.some((name) => each[name] === key))) {
      const changed = { ...row, ...changes };
      const set = { ...changes, ...tagOf(ring, table, changed as never) };
      let update = db.updateTable(table as 'sources').set(set);
      for (const name of names) update = update.where(name, '=', row[name]);
      await update.execute();
    }
  });
}

/** Changes the row with this id and leaves its tag as it is: as somebody who can write only the database. */
export async function tamper(store: Store, table: TaggedTable, id: string, changes: object): Promise<void> {
  await store.write(({ db }) =>
    db
      .updateTable(table as 'jobs')
      .set(changes)
      .where('id', '=', id)
      .execute(),
  );
}
