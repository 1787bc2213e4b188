import type * as Yaml from 'yaml';
import { Anchors } from './anchors.ts';
import { fileRefused, type Place } from './file-refused.ts';
import { type LineStart, lineStarts } from './lines.ts';

/** Bytes of a file: rules of a page have 1 KiB. */
export const YAML_BYTES_MAX = 65_536;
/** Levels of lists and maps; the parser calls itself for each. */
const DEPTH_MAX = 20;
const TOO_DEEP = 'it is nested too deeply';
/** Most brackets of lists, maps and `${…}` in one file. The parser took 1.9 s to refuse 60,000, and 0.2 s for 2,000. */
const BRACKETS_MAX = 2_000;
/**
 * Most tokens in one file: the parser took up to 0.5 s for 16,000, and 1.6 s for 64 KiB of them. In a rule file one in
 * 5 to 12 characters is a token.
 */
const TOKENS_MAX = 16_000;
/** What the parser makes a part of, also where it refuses it later. A dash or a colon within a word does not count. */
const TOKEN = /[\n,[\]{}"'!&*?#]|[-:](?=\s)/g;

/** The bounds of a file. */
export interface YamlLimits {
  readonly bytesMax: number;
  readonly depthMax: number;
  readonly bracketsMax: number;
  /** The parser takes some 10 µs for each. */
  readonly tokensMax: number;
  /** Each part knows its column too, and refusals name it: for files of many objects. */
  readonly columns?: true;
  /** Aliases and merge keys are expanded: for files in the format of another program, whose readers do so. */
  readonly aliases?: true;
}

/** Of files that people write by hand. */
export const YAML_LIMITS: YamlLimits = {
  bytesMax: YAML_BYTES_MAX,
  depthMax: DEPTH_MAX,
  bracketsMax: BRACKETS_MAX,
  tokensMax: TOKENS_MAX,
};
/** Shown characters of the parser's message, which may quote the file. */
const FAULT_CHARACTERS_MAX = 120;
/** The name of the merge key of YAML 1.1. */
const MERGE_KEY = '<<';
/** Shown characters of a name. */
const NAME_CHARACTERS_MAX = 80;

/** The content of a YAML file, with the line of each part. A scalar keeps its text: `1.10` is not the number 1.1. */
export type YamlValue = YamlText | YamlList | YamlMap;

export interface YamlText {
  readonly kind: 'text';
  readonly line: number;
  readonly column?: number;
  readonly text: string;
  /** `other` if the unquoted text is a number. */
  readonly type: 'string' | 'boolean' | 'other' | 'null';
  /** Without quotes and not as a block. */
  readonly isPlain: boolean;
  /** Of a text on several lines: the offset in `text` at which each line begins; left out if escapes hide it. */
  readonly starts?: readonly LineStart[];
}

interface YamlList {
  readonly kind: 'list';
  readonly line: number;
  readonly column?: number;
  readonly items: readonly YamlValue[];
}

export interface YamlMap {
  readonly kind: 'map';
  readonly line: number;
  readonly column?: number;
  readonly fields: ReadonlyMap<string, YamlValue>;
}

type Library = (typeof Yaml)['default'];

/** The file, and what reads it. */
interface Source {
  readonly yaml: Library;
  readonly text: string;
  readonly lines: Yaml.LineCounter;
  readonly depthMax: number;
  readonly columns: boolean;
  readonly anchors: Anchors<YamlValue>;
  /** Whether the field `<<` names maps whose fields the map has too. */
  readonly merges: boolean;
}

/**
 * Reads one document of YAML 1.2 in its core schema, without tags. The result has only texts, lists and maps. Without
 * `aliases` there are no anchors, aliases and merge keys either, and nothing expands; with it, what they expand to is
 * bounded. Throws invalid_argument that names the line.
 */
export async function readYaml(text: string, limits: YamlLimits = YAML_LIMITS): Promise<YamlValue> {
  const { bytesMax, bracketsMax, tokensMax, depthMax, columns = false, aliases: merges = false } = limits;
  if (Buffer.byteLength(text) > bytesMax) throw fileRefused(`expected at most ${bytesMax} bytes`);
  if (countOf(text, /[[{]/g) > bracketsMax) throw fileRefused('it has too many brackets');
  if (countOf(text, TOKEN) > tokensMax)
    throw fileRefused(`it has too many lines, quotes, dashes, colons or commas; expected at most ${tokensMax} in all`);
  // The parser is loaded only when a file is read: it takes 30 ms.
  const { default: yaml } = await import('yaml');
  const lines = new yaml.LineCounter();
  const document = parse(yaml, text, lines);
  const fault = [...document.errors, ...document.warnings][0];
  const anchors = new Anchors(merges, partsOf);
  const source = { yaml, text, lines, depthMax, columns, anchors, merges };
  if (fault !== undefined) throw fileRefused(wordsOf(fault), placeAt(source, fault.pos[0]));
  if (document.contents === null) throw fileRefused('it is empty');
  const value = valueOf(source, document.contents, 0);
  anchors.finish();
  return value;
}

function countOf(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

function placeAt({ lines, columns }: Source, offset: number): Place {
  const { line, col: column } = lines.linePos(offset);
  return columns ? { line, column } : { line };
}

function parse(yaml: Library, text: string, lineCounter: Yaml.LineCounter): Yaml.Document.Parsed | Yaml.Document {
  try {
    return yaml.parseDocument(text, {
      schema: 'core',
      version: '1.2',
      merge: false,
      strict: true,
      // The parser compares each key with all before it: 0.4 s of a map of 6,500.
      uniqueKeys: false,
      resolveKnownTags: false,
      prettyErrors: false,
      logLevel: 'error',
      lineCounter,
    });
  } catch {
    throw fileRefused(TOO_DEEP);
  }
}

/** What is said of values that YAML reads otherwise than they are meant, by the parser's message. */
const HINTS: readonly (readonly [RegExp, string])[] = [
  [/Unresolved tag/i, '; tags are not accepted; quote a value that begins with "!"'],
  [
    /at node end/i,
    '; quote a whole value, such as an expression, that begins with a quote, a bracket or "!": ' +
      'when: \'"a" in event.labels\'',
  ],
  [
    /flow (?:map|sequence)|Plain value cannot|Nested mappings|implicit/i,
    '; quote a value that holds ${…}, ": " or " #"',
  ],
];

function wordsOf(fault: Yaml.YAMLParseError | Yaml.YAMLWarning): string {
  const hint = HINTS.find(([pattern]) => pattern.test(fault.message))?.[1] ?? '';
  if (fault.code === 'MULTIPLE_DOCS') return 'it holds more than one document';
  if (fault.message.includes('call stack')) return TOO_DEEP;
  const first = (fault.message.split('\n')[0] ?? '').slice(0, FAULT_CHARACTERS_MAX);
  return `it cannot be parsed (${first.replace(/[.:]$/, '')})${hint}`;
}

function valueOf(source: Source, node: unknown, depth: number): YamlValue {
  const { yaml, anchors, depthMax } = source;
  if (!yaml.isNode(node)) throw fileRefused('a value is missing');
  const place = placeAt(source, node.range?.[0] ?? 0);
  if (depth > depthMax) throw fileRefused(TOO_DEEP, place);
  if (yaml.isAlias(node)) return anchors.resolve(node.source, place, depthMax - depth);
  if (node.tag !== undefined) throw fileRefused('tags are not supported', place);
  const read = (): YamlValue => partOf(source, node, place, depth);
  return node.anchor === undefined ? read() : anchors.define(node.anchor, place, read);
}

function partOf(source: Source, node: Exclude<Yaml.Node, Yaml.Alias>, place: Place, depth: number): YamlValue {
  const { yaml } = source;
  if (yaml.isScalar(node)) return textOf(source, node, place);
  source.anchors.count();
  if (yaml.isSeq(node))
    return { kind: 'list', ...place, items: node.items.map((item) => valueOf(source, item, depth + 1)) };
  return { kind: 'map', ...place, fields: fieldsOf(source, node.items, depth) };
}

function fieldsOf(source: Source, pairs: readonly Yaml.Pair[], depth: number): YamlMap['fields'] {
  const fields = new Map<string, YamlValue>();
  let merged: YamlValue | undefined;
  for (const pair of pairs) {
    const [name, value] = fieldOf(source, pair, depth);
    const merges = source.merges && name.isPlain && name.text === MERGE_KEY;
    if (fields.has(name.text) || (merges && merged !== undefined))
      throw fileRefused(
        `the name ${JSON.stringify(name.text.slice(0, NAME_CHARACTERS_MAX))} was given more than once`,
        name,
      );
    if (merges) merged = value;
    else fields.set(name.text, value);
  }
  return merged === undefined ? fields : mergedFields(fields, merged);
}

function partsOf(value: YamlValue): readonly YamlValue[] {
  if (value.kind === 'text') return [];
  return value.kind === 'list' ? value.items : [...value.fields.values()];
}

/** The fields of a map with those of its merge key: its own come first, then the earlier map. */
function mergedFields(own: YamlMap['fields'], merged: YamlValue): YamlMap['fields'] {
  const fields = new Map<string, YamlValue>();
  for (const map of merged.kind === 'list' ? merged.items : [merged]) {
    if (map.kind !== 'map') throw fileRefused(`the merge key "${MERGE_KEY}" takes a map, or a list of maps`, map);
    for (const [name, value] of map.fields) if (!fields.has(name)) fields.set(name, value);
  }
  for (const [name, value] of own) fields.set(name, value);
  return fields;
}

function fieldOf(source: Source, { key, value }: Yaml.Pair, depth: number): [YamlText, YamlValue] {
  const named = valueOf(source, key, depth + 1);
  if (named.kind !== 'text' || named.type === 'null') throw fileRefused('expected the name of a field', named);
  return [
    named,
    value === null ? { ...named, text: '', type: 'null', isPlain: true } : valueOf(source, value, depth + 1),
  ];
}

function textOf(file: Source, { value, source, range, type: form }: Yaml.Scalar, place: Place): YamlText {
  const isPlain = form === 'PLAIN';
  file.anchors.count(source ?? String(value));
  if (typeof value === 'string') {
    const starts = range ? lineStarts(file.text.slice(range[0], range[1]), value, place.line) : null;
    return { kind: 'text', ...place, text: value, type: 'string', isPlain, ...(starts === null ? {} : { starts }) };
  }
  const type = value === null ? 'null' : typeof value === 'boolean' ? 'boolean' : 'other';
  return { kind: 'text', ...place, text: source ?? String(value), type, isPlain };
}
