/** Stands for every table: what a statement of another form writes to is not known. */
const ANY = '*';

const WRITE = /^\s*(?:insert(?:\s+or\s+\w+)?\s+into|update|delete\s+from)\s+(?:"(\w+)"|(\w+)\b)/i;
const NO_WRITE = /^\s*(?:select|begin|commit|rollback|savepoint|release|pragma)\b/i;

/** The table that a statement writes to; null for one that writes to none. */
export function tableWritten(sql: string): string | null {
  const [, quoted, plain] = WRITE.exec(sql) ?? [];
  return quoted ?? plain ?? (NO_WRITE.test(sql) ? null : ANY);
}

/** How often this process has committed, and how often it wrote to each table. No table has triggers or cascades. */
export class OwnCommits {
  #all = 0;
  readonly #ofTable = new Map<string, number>();

  /** After the end of a transaction, whatever it was: one that was rolled back only makes others read again. */
  ended(tables: Iterable<string>): void {
    this.#all += 1;
    for (const table of tables) this.#ofTable.set(table, this.#count(table) + 1);
  }

  /** A number that grows with each transaction that may have written to one of the tables; without any, with each. */
  count(tables?: readonly string[]): number {
    return tables === undefined ? this.#all : tables.reduce((sum, each) => sum + this.#count(each), this.#count(ANY));
  }

  #count(table: string): number {
    return this.#ofTable.get(table) ?? 0;
  }
}
