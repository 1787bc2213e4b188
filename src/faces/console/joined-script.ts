/** The script of the console, which is several modules, as the one classic script that pages load. */
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';

const IMPORT = /^import\s*\{([^}]*)\}\s*from '(\.[^']+)';$/gm;
const EXPORT = /^export (?=(?:async )?(?:function|class|const) (\w+))/gm;

/**
 * Each module becomes a function that answers what it exports, after those that it imports from. `entry` is the path of
 * the first one. Modules have named exports of functions, classes and constants only, and no cycle.
 */
export function joinedScript(entry: string): string {
  const names = new Map<string, string>();
  const parts: string[] = [];
  const add = (file: string): string => {
    const known = names.get(file);
    if (known !== undefined) return known;
    const text = stripTypeScriptTypes(readFileSync(file, 'utf8')).replaceAll(
      IMPORT,
      (_all, imported: string, from: string) =>
        `const {${imported.replaceAll(' as ', ': ')}} = ${add(join(dirname(file), from))};`,
    );
    const exported = [...text.matchAll(EXPORT)].map(([, name]) => name);
    const name = `part${names.size}`;
    names.set(file, name);
    parts.push(`const ${name} = (() => {\n${text.replaceAll(EXPORT, '')}\nreturn { ${exported.join(', ')} };\n})();\n`);
    return name;
  };
  add(entry);
  return parts.map(withoutGaps).join('');
}

/**
 * Types leave spaces and empty lines where they were, and browsers need no comment or indentation of ours. Each
 * statement has its semicolon, so that no line end is needed after one, or after a brace.
 */
function withoutGaps(text: string): string {
  return text
    .replaceAll(/^\s*\/\*\*[^]*?\*\/$/gm, '')
    .replaceAll(/^\s*\/\/.*$/gm, '')
    .replaceAll(/^[ \t]+|[ \t]+$/gm, '')
    .replaceAll(/\n{2,}/g, '\n')
    .replaceAll(/([;{}])\n/g, '$1');
}
