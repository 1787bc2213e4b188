import { type RawBuilder, sql } from 'kysely';

/**
 * Arithmetic on columns. Somebody may have written any value into the database, and a result beyond the range of its
 * column is refused with all else that its transaction writes.
 */

/** Of a column of PostgreSQL with 31 bits. */
const COUNT_MAX = 2 ** 31 - 1;
/** Of totals, which have 63 bits: a total of two is an exact number too. */
const TOTAL_MAX = 2 ** 52;
/** Far above each time in milliseconds and each count; 900,000 of them can be added. */
const SUMMED_MAX = 10 ** 13;

/** The next value of a count; behind the last one it begins again. */
export function countedUp(column: string, by = 1): RawBuilder<number> {
  const kept = sql.ref(column);
  return sql<number>`case when ${kept} < ${sql.lit(COUNT_MAX)} then ${kept} + ${sql.lit(by)} else ${sql.lit(by)} end`;
}

/** The total of a row and of the one that an insert would write in its place. */
export function totalWithNew(table: string, column: string): RawBuilder<number> {
  const kept = sql.ref(`${table}.${column}`);
  const more = sql.ref(`excluded.${column}`);
  return sql<number>`case when ${kept} < ${sql.lit(TOTAL_MAX)} then ${kept} + ${more} else ${more} end`;
}

/** The sum of a column as text. */
export function sumOf(column: string): RawBuilder<string | null> {
  return sql<string | null>`cast(sum(${sql.ref(column)} % ${sql.lit(SUMMED_MAX)}) as text)`;
}
