import type { Fields } from './reading/fields.ts';
import type { Collector } from './imported.ts';
import { Names } from './names.ts';

/** What tells one object of the other program from all others of its kind, and what it is called there. */
export interface Reference {
  readonly key: string;
  readonly title: string;
}

/** A source as its export has it; without a URL its files are in a folder. */
interface Repository {
  readonly url: string | null;
  readonly branch: string | null;
}

/**
 * The sources and inventories that schedules name and a configuration file does not hold: each is in the report. Two of
 * the other program whose titles become the same name have two names here.
 */
export class Needed {
  readonly #found: Collector;
  readonly #sources = new Map<string, string>();
  readonly #inventories = new Map<string, string>();
  readonly #sourceNames = new Names();
  readonly #inventoryNames = new Names();

  constructor(found: Collector) {
    this.#found = found;
  }

  addSource({ key, title }: Reference, from: Fields, { url, branch }: Repository): void {
    const name = this.#sourceNames.take(title);
    this.#sources.set(key, name);
    from.name(`source ${name}`);
    const git =
      url === null ? '--dir DIR' : `--git ${withoutUserinfo(url)}${branch === null ? '' : ` --ref ${branch}`}`;
    this.#found.note(`Needed: svc source add ${name} ${git}`);
    if (url !== null && withoutUserinfo(url) !== url)
      this.#found.note(`${name}: the credential in its URL is left out.`);
  }

  addInventory({ key, title }: Reference, from: Fields): void {
    const name = this.#inventoryNames.take(title);
    this.#inventories.set(key, name);
    from.name(`inventory ${name}`);
    this.#found.note(`Needed: svc inventory add ${name} --file FILE`);
  }

  /** The name of a source, also of one that the export does not have. */
  source({ key, title }: Reference): string {
    const known = this.#sources.get(key);
    if (known !== undefined) return known;
    const name = this.#sourceNames.take(title);
    this.#sources.set(key, name);
    this.#found.note(`Needed: svc source add ${name} --git URL`);
    return name;
  }

  /** The name of an inventory, also of one that the export does not have. */
  inventory({ key, title }: Reference): string {
    const known = this.#inventories.get(key);
    if (known !== undefined) return known;
    const name = this.#inventoryNames.take(title);
    this.#inventories.set(key, name);
    this.#found.note(`Needed: svc inventory add ${name} --file FILE`);
    return name;
  }
}

/** A credential of the other program is not shown. */
function withoutUserinfo(url: string): string {
  return url.replace(/:\/\/[^/?#]*@/, '://');
}
