import { Failure } from '../failure.ts';
import { NAME } from '../name.ts';
import { need, refused, refuseOthers, textOf } from '../yaml/fields.ts';
import { readYaml, type YamlLimits, type YamlMap } from '../yaml/file.ts';
import { nameIn } from '../yaml/value-fields.ts';

/**
 * 1,000 checks, 200 rules and 100 netgroups are 300 KiB. Brackets are those of `${…}` too; the parser refuses 20,000
 * nested ones in 0.4 s.
 */
export const CONFIG_LIMITS = {
  bytesMax: 4 * 1024 * 1024,
  depthMax: 20,
  bracketsMax: 20_000,
  tokensMax: 160_000,
  columns: true,
} as const satisfies YamlLimits;

/** An object as the file has it. */
export interface FileEntry {
  readonly section: string;
  readonly name: string;
  /** All of its fields, the name among them. */
  readonly map: YamlMap;
}

export interface ConfigFile {
  /** Which objects the file manages; null if it manages none. */
  readonly set: string | null;
  /** In the order of the sections, and in each as in the file. */
  readonly entries: readonly FileEntry[];
}

/** Reads these sections, and the names in them. Throws invalid_argument that names line and column. */
export async function readConfigFile(text: string, sections: readonly string[]): Promise<ConfigFile> {
  const file = await readYaml(text, CONFIG_LIMITS);
  if (file.kind !== 'map') throw new Failure('invalid_argument', `file: expected sections such as ${sections[0]}.`);
  refuseOthers(file, ['set', ...sections]);
  return { set: setIn(file), entries: sections.flatMap((section) => entriesIn(file, section)) };
}

function setIn(file: YamlMap): string | null {
  const value = file.fields.get('set');
  if (value === undefined) return null;
  const set = textOf('set', value);
  if (!NAME.test(set))
    throw refused('set', value, 'expected 1 to 63 of a-z 0-9 . _ - beginning with a letter or digit');
  return set;
}

function entriesIn(file: YamlMap, section: string): FileEntry[] {
  const list = file.fields.get(section);
  if (list === undefined || (list.kind === 'text' && list.type === 'null')) return [];
  if (list.kind !== 'list') throw refused(section, list, 'expected a list, each with a name');
  const lines = new Map<string, number>();
  return list.items.map((map, index) => {
    const prefix = `${section}[${index}]`;
    if (map.kind !== 'map') throw refused(prefix, map, 'expected fields such as name');
    const value = need(map, 'name', `${prefix}.`);
    const name = nameIn(map, `${prefix}.`) ?? '';
    const first = lines.get(name);
    if (first !== undefined)
      throw refused(`${prefix}.name`, value, `line ${first} has one of the name ${name} already`);
    lines.set(name, value.line);
    return { section, name, map };
  });
}
