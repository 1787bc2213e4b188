import type { Db } from '../../schema/schema.ts';

/** Whether the orders of earlier builds, which tagged few of them, have their tags by now. It happens once. */
export class Adoption {
  readonly #read: () => Promise<boolean>;
  #isOver = false;

  constructor(read: () => Promise<boolean>) {
    this.#read = read;
  }

  get isKnownOver(): boolean {
    return this.#isOver;
  }

  /** From then on a row without a tag was not written by this service. Once it is over this asks nothing more. */
  async isOver(): Promise<boolean> {
    this.#isOver ||= await this.#read();
    return this.#isOver;
  }

  /** Whatever the database says from now on. */
  end(): void {
    this.#isOver = true;
  }
}

/** What the database says of it. */
export async function hasAdopted(db: Db): Promise<boolean> {
  const row = await db.selectFrom('ledger_keying').select('orders_adopted_at').executeTakeFirst();
  return row !== undefined && row.orders_adopted_at !== null;
}
