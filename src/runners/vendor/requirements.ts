import { hash } from 'node:crypto';
import { Failure } from '../../domain/failure.ts';
import { refused, refuseOthers, textOf } from '../../domain/yaml/fields.ts';
import { readYaml, YAML_BYTES_MAX, YAML_LIMITS, type YamlLimits, type YamlValue } from '../../domain/yaml/file.ts';
import { errorCode } from '../../lib/error-code.ts';
import { checkGitRef, checkGitUrl } from '../checkout/git/url.ts';
import { TREE } from '../checkout/run-tree.ts';
import { readRunFile } from '../run-files/run-files.ts';

/** Where a source declares what it needs, in the order in which ansible-galaxy gets it. */
export const REQUIREMENT_FILES: readonly string[] = ['', 'collections/', 'roles/'].flatMap((folder) => [
  `${folder}requirements.yml`,
  `${folder}requirements.yaml`,
]);
const REQUIREMENTS_MAX = 200;
/**
 * A hostile source may have all six files, and they are read at each run: the parser took up to 0.3 s for each. 200
 * collections and 200 roles with all of their fields have 4,000 tokens.
 */
const LIMITS: YamlLimits = { ...YAML_LIMITS, tokensMax: 8_000, aliases: true };

const COLLECTION = /^[a-z_][a-z0-9_]{0,62}\.[a-z_][a-z0-9_]{0,62}$/;
const ROLE = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,62}\.[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}$/;
const FOLDER = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/;
/** Versions and ranges of versions, such as `>=1.2.0,<2.0.0`. */
const VERSION = /^[A-Za-z0-9*<>=!][A-Za-z0-9*<>=!.,+_-]{0,99}$/;
/** Collections that are part of Ansible itself. */
const BUILT_IN: ReadonlySet<string> = new Set(['ansible.builtin', 'ansible.legacy']);
const LOOPBACK = /^http:\/\/(?=(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?(?:\/|$))/;
const NO_VERSION = 'expected a version, or a range such as >=1.2.0,<2.0.0';
const EXPECTED = 'expected namespace.name, or the https URL of an archive or of a git repository';

/** What a source declares, in the fields of ansible-galaxy. No value is a path, and none begins with a dash. */
export interface Requirements {
  readonly collections: readonly Readonly<Record<string, string>>[];
  readonly roles: readonly Readonly<Record<string, string>>[];
  /** Of the text of all files: later runs see by it whether what was fetched is what they declare. */
  readonly digest: string;
}

/** Reads the files in the copy of a source. Throws Failure that names the file and the line. */
export async function readRequirements(runDir: string, tree: string): Promise<Requirements> {
  const collections: Readonly<Record<string, string>>[] = [];
  const roles: Readonly<Record<string, string>>[] = [];
  const texts: string[] = [];
  for (const file of REQUIREMENT_FILES) {
    const text = await textIn(runDir, tree, file);
    if (text === null) continue;
    texts.push(`${file}\n${text}`);
    const found = await parseRequirements(file, text);
    collections.push(...found.collections);
    roles.push(...found.roles);
  }
  for (const { length } of [collections, roles]) {
    if (length > REQUIREMENTS_MAX)
      throw new Failure('invalid_argument', `The source declares ${length}; expected at most ${REQUIREMENTS_MAX}.`);
  }
  return { collections, roles, digest: hash('sha256', texts.join('\n')) };
}

/** For the output of a run: which files it uses, and whether the source asks for others by now. */
export async function notesOn(
  { job_id: jobId, requirements }: { readonly job_id: string; readonly requirements: string },
  runDir: string,
): Promise<string[]> {
  const declared = await readRequirements(runDir, TREE).catch(() => null);
  const uses = `Uses the collections and roles that ${jobId} fetched for this source.`;
  if (declared?.digest === requirements) return [uses];
  return [uses, 'The source declares other collections or roles since then; fetch them with svc vendor.'];
}

async function textIn(runDir: string, tree: string, file: string): Promise<string | null> {
  try {
    return (await readRunFile(runDir, `${tree}/${file}`, YAML_BYTES_MAX)).toString('utf8');
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new Failure('invalid_argument', `${file}: expected a file of at most ${YAML_BYTES_MAX} bytes, and no link.`);
  }
}

/** One file. A list alone is one of roles, as Ansible had it first. */
export async function parseRequirements(file: string, text: string): Promise<Omit<Requirements, 'digest'>> {
  try {
    const value = await readYaml(text, LIMITS);
    if (value.kind === 'list') return { collections: [], roles: each(value, 'roles', roleOf) };
    if (value.kind === 'text') throw refused('roles', value, 'expected a list, or the fields collections and roles');
    refuseOthers(value, ['collections', 'roles']);
    return {
      collections: each(value.fields.get('collections'), 'collections', collectionOf),
      roles: each(value.fields.get('roles'), 'roles', roleOf),
    };
  } catch (error) {
    if (error instanceof Failure) throw new Failure(error.code, `${file}: ${error.message}`);
    throw error;
  }
}

type Read = (fields: Fields) => Record<string, string>;

function each(list: YamlValue | undefined, field: string, read: Read): Record<string, string>[] {
  if (list === undefined || (list.kind === 'text' && list.type === 'null')) return [];
  if (list.kind !== 'list') throw refused(field, list, 'expected a list');
  return list.items.map((item, at) => read(new Fields(`${field}[${at}]`, item)));
}

/** The fields of one requirement. A text alone is a name. */
class Fields {
  readonly #prefix: string;
  readonly #value: YamlValue;
  readonly #fields: ReadonlyMap<string, YamlValue>;

  constructor(prefix: string, value: YamlValue) {
    if (value.kind === 'list') throw refused(prefix, value, 'expected a name, or the fields of one');
    this.#prefix = prefix;
    this.#value = value;
    this.#fields = value.kind === 'map' ? value.fields : new Map([['name', value]]);
  }

  refuseOthers(known: readonly string[]): void {
    if (this.#value.kind === 'map') refuseOthers(this.#value, known, `${this.#prefix}.`);
  }

  /** Null for a field that is not there. */
  text(name: string): string | null {
    const value = this.#fields.get(name);
    return value === undefined ? null : textOf(`${this.#prefix}.${name}`, value);
  }

  refusal(name: string, what: string): Failure {
    return refused(`${this.#prefix}.${name}`, this.#fields.get(name) ?? this.#value, what);
  }

  /** The text, if it has this form. */
  match(name: string, form: RegExp, what: string): string | null {
    const text = this.text(name);
    if (text !== null && !form.test(text)) throw this.refusal(name, what);
    return text;
  }

  version(): Record<string, string> {
    const version = this.match('version', VERSION, NO_VERSION);
    return version === null ? {} : { version };
  }

  /** A URL without credentials: of an archive or a server over https, or http on this machine. */
  url(name: string, text: string): string {
    const url = text.replace(LOOPBACK, 'https://');
    this.#checked(name, () => checkGitUrl(url.replace(/^(https:\/\/[^/]*)\/?$/, '$1/x')));
    return text;
  }

  /** The URL of a git repository, with the branch, tag or commit in `version`. */
  repository(name: string, text: string): { readonly url: string; readonly version: Record<string, string> } {
    const url = text.replace(/^git\+/, '');
    if (!url.startsWith('https://'))
      throw this.refusal(name, 'expected an https URL: a job has no key for ssh, and no path may be given');
    this.#checked(name, () => checkGitUrl(url));
    const ref = this.text('version');
    if (ref !== null) this.#checked('version', () => checkGitRef(ref));
    return { url, version: ref === null ? {} : { version: ref } };
  }

  #checked(name: string, check: () => void): void {
    try {
      check();
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      throw this.refusal(name, error.message.replace(/^(?:git|ref): /, '').replace(/\.$/, ''));
    }
  }
}

function collectionOf(fields: Fields): Record<string, string> {
  fields.refuseOthers(['name', 'version', 'source', 'type']);
  const name = fields.text('name') ?? '';
  const source = fields.text('source');
  if (COLLECTION.test(name)) {
    if (BUILT_IN.has(name)) throw fields.refusal('name', 'this collection is part of Ansible');
    fields.match('type', /^galaxy$/, 'expected galaxy with such a name');
    const server = source === null ? {} : { source: fields.url('source', source) };
    return { name, type: 'galaxy', ...fields.version(), ...server };
  }
  if (source !== null) throw fields.refusal('source', 'only with the name of a collection');
  const type = fields.match('type', /^(?:git|url)$/, 'expected galaxy, git or url');
  if (type === 'git' || name.startsWith('git+')) {
    const { url, version } = fields.repository('name', name);
    return { name: url, type: 'git', ...version };
  }
  if (!/^https?:/.test(name)) throw fields.refusal('name', EXPECTED);
  return { name: fields.url('name', name), type: 'url', ...fields.version() };
}

function roleOf(fields: Fields): Record<string, string> {
  fields.refuseOthers(['name', 'src', 'scm', 'version']);
  const name = fields.match('name', FOLDER, 'expected a name of letters, digits, "_", "-" and "."');
  const scm = fields.match('scm', /^git$/, 'expected git');
  const src = fields.text('src') ?? (scm === null ? name : null) ?? '';
  const field = fields.text('src') === null ? 'name' : 'src';
  if (name?.includes('..') === true) throw fields.refusal('name', 'expected no ".."');
  if (scm === null && ROLE.test(src) && !src.includes('..'))
    return { src, ...(name === null ? {} : { name }), ...fields.version() };
  if (scm === null && !src.startsWith('git+') && !/^https?:/.test(src)) throw fields.refusal(field, EXPECTED);
  if (name === null) throw fields.refusal('name', 'required with a URL');
  if (scm === null && !src.startsWith('git+')) return { src: fields.url(field, src), name, ...fields.version() };
  const { url, version } = fields.repository(field, src);
  return { src: url, name, scm: 'git', ...version };
}
