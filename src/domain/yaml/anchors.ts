import { fileRefused, type Place } from './file-refused.ts';

/**
 * Most values, names of fields among them, of a file with aliases, each alias counted with all that it stands for. Nine
 * lists of nine aliases, one inside the other, stand for 400 million.
 */
const NODES_MAX = 10_000;
/** Most bytes of all texts of such a file. */
const BYTES_MAX = 1024 * 1024;
const NAME_CHARACTERS_MAX = 80;

interface Anchored<T> {
  readonly value: T;
  readonly nodes: number;
  readonly bytes: number;
}

/**
 * The anchors of a file. An alias stands for the value itself, which is not copied, so that the memory is that of the
 * file; what it would be expanded is counted.
 */
export class Anchors<T> {
  readonly #isAccepted: boolean;
  /** The values in a value. */
  readonly #partsOf: (value: T) => readonly T[];
  /** Null for an anchor whose value is not complete. */
  readonly #byName = new Map<string, Anchored<T> | null>();
  readonly #levels = new Map<T, number>();
  #nodes = 0;
  #bytes = 0;
  #hasAliases = false;

  constructor(isAccepted: boolean, partsOf: (value: T) => readonly T[]) {
    this.#isAccepted = isAccepted;
    this.#partsOf = partsOf;
  }

  /** Counts a value of the file. */
  count(text = ''): void {
    this.#nodes += 1;
    if (this.#isAccepted) this.#bytes += Buffer.byteLength(text);
  }

  /** Reads the value of an anchor. */
  define(name: string, place: Place, read: () => T): T {
    this.#requireAccepted(place);
    const [nodes, bytes] = [this.#nodes, this.#bytes];
    this.#byName.set(name, null);
    const value = read();
    this.#byName.set(name, { value, nodes: this.#nodes - nodes, bytes: this.#bytes - bytes });
    return value;
  }

  /** The value that an alias stands for, which has at most `levelsMax` levels. */
  resolve(name: string, place: Place, levelsMax: number): T {
    this.#requireAccepted(place);
    const shown = JSON.stringify(`*${name.slice(0, NAME_CHARACTERS_MAX)}`);
    const anchored = this.#byName.get(name);
    if (anchored === undefined) throw fileRefused(`the alias ${shown} has no anchor before it`, place);
    if (anchored === null) throw fileRefused(`the alias ${shown} is inside its own anchor`, place);
    this.#hasAliases = true;
    this.#nodes += anchored.nodes;
    this.#bytes += anchored.bytes;
    if (this.#isTooLarge()) throw fileRefused(`the alias ${shown} expands the file ${BOUNDS}`, place);
    if (this.#levelsOf(anchored.value) > levelsMax) throw fileRefused('it is nested too deeply', place);
    return anchored.value;
  }

  /** Throws invalid_argument for a file that is too large with its aliases. */
  finish(): void {
    if (this.#hasAliases && this.#isTooLarge()) throw fileRefused(`its aliases expand it ${BOUNDS}`);
  }

  /** The levels of a value below it. Each value is measured once, however many aliases stand for it. */
  #levelsOf(value: T): number {
    const known = this.#levels.get(value);
    if (known !== undefined) return known;
    const levels = this.#partsOf(value).reduce((most, part) => Math.max(most, 1 + this.#levelsOf(part)), 0);
    this.#levels.set(value, levels);
    return levels;
  }

  #isTooLarge(): boolean {
    return this.#nodes > NODES_MAX || this.#bytes > BYTES_MAX;
  }

  #requireAccepted(place: Place): void {
    if (!this.#isAccepted) throw fileRefused('anchors and aliases are not supported', place);
  }
}

const BOUNDS = `to more than ${NODES_MAX} values or ${BYTES_MAX} bytes`;
