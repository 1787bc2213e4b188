import type { Entry } from '../../domain/configuration/change.ts';
import { writeYaml } from '../../domain/yaml/write.ts';
import { hideCredentials, replaceTexts } from '../core/sections/kept.ts';

/** The name under which `svc config schema` is kept beside the files, for editors. */
const SCHEMA_FILE = 'gatehouse.schema.json';

/** A configuration file with the objects of each section, in the given order; credentials in URLs are `[kept]`. */
export async function writeConfigFile(
  set: string | null,
  objects: Readonly<Record<string, ReadonlyMap<string, Entry>>>,
): Promise<string> {
  const sections = Object.entries(objects).flatMap(([section, all]): [string, unknown][] => {
    const entries = [...all].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return entries.length === 0 ? [] : [[section, entries.map(([name, entry]) => ({ name, ...entry }))]];
  });
  const head = `# yaml-language-server: $schema=${SCHEMA_FILE}\n`;
  const content = { ...(set === null ? {} : { set }), ...Object.fromEntries(sections) };
  if (Object.keys(content).length === 0) return `${head}{}\n`;
  return head + (await writeYaml(replaceTexts(content, hideCredentials)));
}
