const NAME_CHARACTERS_MAX = 63;
/** Characters of a number behind a name. */
const NUMBER_CHARACTERS = 6;

/** A title as a name of this service: small letters, digits and dashes. */
function nameOf(title: string): string {
  const plain = title
    .slice(0, 4 * NAME_CHARACTERS_MAX)
    .normalize('NFKD')
    .toLowerCase();
  const words = plain.replaceAll(/[^a-z0-9]+/g, '-').replace(/^-/, '');
  return words.slice(0, NAME_CHARACTERS_MAX).replace(/-$/, '') || 'imported';
}

/** Gives each object a name that no other one has. */
export class Names {
  readonly #taken = new Set<string>();
  /** By name, the last number behind it. */
  readonly #numbers = new Map<string, number>();

  /** The name of a title, with a number behind it where it is taken. */
  take(title: string): string {
    const name = nameOf(title);
    for (let each = name; ;) {
      if (!this.#taken.has(each)) {
        this.#taken.add(each);
        return each;
      }
      const number = (this.#numbers.get(name) ?? 1) + 1;
      this.#numbers.set(name, number);
      each = `${name.slice(0, NAME_CHARACTERS_MAX - NUMBER_CHARACTERS)}-${number}`;
    }
  }
}
