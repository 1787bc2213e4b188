/** Stands for every table: what a statement of another form writes to is not known. */
const ANY = '*';

const LITERAL = /'(?:[^']|'')*'/g;
/** In SQLite no part of a statement but its last writes: those before it, after `with`, are queries. */
const VERB = String.raw`(?:insert(?:\s+or\s+\w+)?\s+into|replace\s+into|update(?:\s+or\s+\w+)?|delete\s+from)`;
const WRITE = new RegExp(String.raw`\b${VERB}\s+(?:"(\w+)"|(?!set\b)(\w+)\b)(?!\s*\.)`, 'gi');
const READS = /^\s*(?:select|begin|commit|rollback|savepoint|release|pragma)\b/i;
const WITH_QUERY = /^\s*with\b(?!.*\b(?:insert|replace|update|delete)\b)/is;

/** The table that a statement writes to; null for one that writes to none. */
export function tableWritten(sql: string): string | null {
  const text = sql.replaceAll(LITERAL, "''");
  if (READS.test(text) || WITH_QUERY.test(text)) return null;
  const tables = new Set([...text.matchAll(WRITE)].map(([, quoted, plain]) => quoted ?? plain ?? ANY));
  const [table] = tables;
  return tables.size === 1 && table !== undefined ? table : ANY;
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
