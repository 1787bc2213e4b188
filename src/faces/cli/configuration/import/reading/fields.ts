/** Why an object of a foreign file is left out: the rest of a sentence after its name. */
export class LeftOut extends Error {}

/** An object of a list, with its place, which begins with 1; null where the list has something else there. */
export interface Item {
  readonly place: string;
  readonly fields: Fields | null;
}

/** The list of a part of the report: names of objects with the fields of them that were not read. */
export interface Unread {
  readonly names: readonly string[];
  readonly field: string;
}

type Values = Readonly<Record<string, unknown>>;

const ON: readonly unknown[] = [true, 1, 'true', 'yes', 'on', '1'];
const OFF: readonly unknown[] = [false, 0, 'false', 'no', 'off', '0'];

/**
 * One object of a foreign file. What is read of it is recorded, and the other fields are named at the end. Reading a
 * field of another form than expected throws LeftOut, because without it the object may be a wider one.
 */
export class Fields {
  /** Its name in the report until it has one here. */
  label: string;
  readonly #values: Values;
  readonly #names: string[] = [];
  readonly #read = new Set<string>();
  /** Objects in its fields. They have its names in the report. */
  readonly #inner = new Map<string, Fields>();
  readonly #items = new Map<string, readonly Item[]>();
  #isDropped = false;

  constructor(values: Values, label: string) {
    this.#values = values;
    this.label = label;
  }

  /** Gives it a name of this service. */
  name(name: string): void {
    this.#names.push(name);
  }

  /** Nothing of it is named: it is left out as a whole, and the report says so. */
  drop(): void {
    this.#isDropped = true;
  }

  /** Whether a field says anything: no null, empty text, or list or object without a member. Reads nothing. */
  has(name: string): boolean {
    const value = this.#values[name];
    if (typeof value === 'string') return value.trim() !== '';
    if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
    return value !== undefined && value !== null;
  }

  /** The value with all that is in it. */
  whole(name: string): unknown {
    this.#read.add(name);
    return this.#values[name];
  }

  /** A text, or a number as one; null without a value, and for an empty text. */
  text(name: string): string | null {
    const value = this.whole(name);
    if (typeof value === 'number') return String(value);
    if (typeof value === 'string') return value.trim() === '' ? null : value.trim();
    if (this.has(name)) throw new LeftOut(`its field ${name} is not a text`);
    return null;
  }

  /** The texts of a list; a text alone is one of them. */
  texts(name: string): readonly string[] {
    const value = this.whole(name);
    const list: readonly unknown[] = Array.isArray(value) ? value : this.has(name) ? [value] : [];
    return list.map((each) => {
      if (typeof each === 'string' || typeof each === 'number') return String(each).trim();
      throw new LeftOut(`its field ${name} is not a list of texts`);
    });
  }

  /** Null without a value. */
  flag(name: string): boolean | null {
    const value = this.whole(name);
    if (!this.has(name)) return null;
    const plain = typeof value === 'string' ? value.trim().toLowerCase() : value;
    if (!ON.includes(plain) && !OFF.includes(plain)) throw new LeftOut(`its field ${name} is neither true nor false`);
    return ON.includes(plain);
  }

  /** Null without a value. */
  number(name: string): number | null {
    const text = this.text(name);
    if (text === null) return null;
    const value = Number(text);
    if (!Number.isFinite(value)) throw new LeftOut(`its field ${name} is not a number`);
    return value;
  }

  /** The object in a field; an empty one without a value. */
  fields(name: string): Fields {
    const known = this.#inner.get(name);
    if (known !== undefined) return known;
    const value = this.#values[name];
    if (!isObject(value) && this.has(name)) throw new LeftOut(`its field ${name} has no fields`);
    const inner = new Fields(isObject(value) ? value : {}, this.label);
    this.#inner.set(name, inner);
    return inner;
  }

  /** The objects of a list; empty for anything else, which is not read then. */
  objects(name: string, noun: string): readonly Item[] {
    const known = this.#items.get(name);
    if (known !== undefined) return known;
    const value = this.#values[name];
    const items = (Array.isArray(value) ? value : []).map((each: unknown, index): Item => {
      const place = `${noun} ${index + 1}`;
      return { place, fields: isObject(each) ? new Fields(each, place) : null };
    });
    if (Array.isArray(value)) this.#items.set(name, items);
    return items;
  }

  isList(name: string): boolean {
    return Array.isArray(this.#values[name]);
  }

  /** The fields that were not read, also those of the objects in its lists. */
  *unread(): Generator<Unread> {
    if (this.#isDropped) return;
    const names = this.#names.length === 0 ? [this.label] : this.#names;
    for (const field of this.#unreadFields()) yield { names, field };
    yield* this.#unreadItems();
  }

  *#unreadFields(): Generator<string> {
    for (const name of Object.keys(this.#values)) {
      const inner = this.#inner.get(name);
      if (inner !== undefined && !inner.#isDropped) for (const field of inner.#unreadFields()) yield `${name}.${field}`;
      else if (inner === undefined && !this.#items.has(name) && !this.#read.has(name) && this.has(name)) yield name;
    }
  }

  *#unreadItems(): Generator<Unread> {
    for (const inner of this.#inner.values()) if (!inner.#isDropped) yield* inner.#unreadItems();
    for (const items of this.#items.values())
      for (const { fields } of items) if (fields !== null) yield* fields.unread();
  }
}

function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
