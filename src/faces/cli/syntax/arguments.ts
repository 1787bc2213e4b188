import { type Flag, kebab, type Positional, type Tree, type ValueType, type Verb, verbsOf } from './tree.ts';
import { didYouMean, UsageFailure } from './usage.ts';

/** The request that a command line makes. */
export type Request =
  | { readonly ask: 'run'; readonly verb: Verb; readonly fields: Fields; readonly flags: GivenFlags }
  /** `topic` is a noun, a noun and a verb, or empty for the overview. */
  | { readonly ask: 'help'; readonly topic: string };

/** Values of an operation's input, typed as far as their text allows; the schema checks them. */
export type Fields = Readonly<Record<string, unknown>>;
/** The text of each flag that was given, by name: the global ones and the extra ones of the verb. */
export type GivenFlags = Readonly<Record<string, string>>;

/** Something that the verb needs was not given. */
export class MissingFailure extends UsageFailure {
  readonly verb: Verb;
  readonly named: Flag | Positional;
  readonly flags: GivenFlags;

  constructor(message: string, { verb, named, flags }: Pick<MissingFailure, 'verb' | 'named' | 'flags'>) {
    super(message, `svc ${verb.path} --help`);
    this.verb = verb;
    this.named = named;
    this.flags = flags;
  }
}

interface Word {
  readonly text: string;
  /** Came after `--`: it is never a flag. */
  readonly literal: boolean;
}

/** Parses a command line by the tree. Throws UsageFailure, with a suggestion if a name is close. */
export function readArguments(tree: Tree, argv: readonly string[]): Request {
  const reading = new Reading(tree);
  const end = argv.indexOf('--');
  const before = end < 0 ? argv : argv.slice(0, end);
  const words = before.values();
  for (let next = words.next(); next.done !== true; next = words.next()) reading.take(next.value, words);
  for (const text of end < 0 ? [] : argv.slice(end + 1)) reading.word({ text, literal: true });
  return reading.finish();
}

/** `svc help flags` lists the global flags. */
export const FLAGS_TOPIC = 'flags';

class Reading {
  readonly #tree: Tree;
  readonly #path: string[] = [];
  readonly #words: Word[] = [];
  readonly #fields: Record<string, unknown> = {};
  readonly #flags: Record<string, string> = {};
  #verb: Verb | undefined;
  #help = false;

  constructor(tree: Tree) {
    this.#tree = tree;
  }

  take(text: string, rest: Iterator<string>): void {
    if (text === '-h') this.#help = true;
    else if (text.startsWith('-') && text !== '-') this.#flag(text, rest);
    else this.word({ text, literal: false });
  }

  /** The first words name the verb; the others are its arguments. */
  word(word: Word): void {
    if (this.#verb !== undefined) {
      this.#words.push(word);
      return;
    }
    if (word.text === 'help') {
      this.#help = true;
      return;
    }
    if (this.#help && this.#path.length === 0 && word.text === FLAGS_TOPIC) {
      this.#path.push(word.text);
      return;
    }
    const path = [...this.#path, word.text].join(' ');
    const verbs = verbsOf(this.#tree, path);
    if (verbs.length === 0) throw this.#unknownWord(word.text);
    this.#path.push(word.text);
    this.#verb = verbs.find((verb) => verb.path === path);
  }

  finish(): Request {
    const topic = this.#path.join(' ');
    if (this.#help || topic === '') return { ask: 'help', topic };
    if (this.#verb === undefined)
      throw new UsageFailure(
        `svc ${topic}: expected a verb, one of ${this.#verbNames(topic).join(', ')}.`,
        `svc ${topic} --help`,
      );
    this.#givePositionals(this.#verb);
    this.#requireFlags(this.#verb);
    return { ask: 'run', verb: this.#verb, fields: this.#fields, flags: this.#flags };
  }

  #flag(text: string, rest: Iterator<string>): void {
    const [name = '', ...parts] = text.replace(/^--/, '').split('=');
    const flag = text.startsWith('--') ? this.#findFlag(name) : undefined;
    if (flag === undefined) throw this.#unknownFlag(text, name);
    if (flag.name === 'help') this.#help = true;
    if (flag.type === 'boolean') {
      if (parts.length > 0) throw this.#usage(`--${name}: this flag takes no value.`);
      this.#give(flag, 'true', flag.off !== true);
      return;
    }
    const value = parts.length > 0 ? parts.join('=') : nextValue(rest);
    if (value === null)
      throw this.#usage(
        `--${name}: expected a value${flag.values === undefined ? '' : `, one of ${flag.values.join(', ')}`}.`,
      );
    this.#give(flag, value, fromText(flag.type, value));
  }

  #give(flag: Flag, text: string, value: unknown): void {
    const { name, field } = flag;
    if (flag.pairs === true && field !== undefined) return this.#givePair(flag, field, text);
    const before = field === undefined ? this.#flags[name] : this.#fields[field];
    if (before !== undefined && flag.repeat !== true) throw this.#usage(`--${name}: given twice.`);
    if (field === undefined) this.#flags[name] = before === undefined ? text : `${before as string}\n${text}`;
    else this.#fields[field] = flag.repeat === true ? [...((before as unknown[] | undefined) ?? []), value] : value;
  }

  /** `NAME=VALUE`, both of at least a character; a value may have more of the sign. */
  #givePair({ name, placeholder = 'NAME=VALUE' }: Flag, field: string, text: string): void {
    const at = text.indexOf('=');
    const [key, value] = [text.slice(0, at), text.slice(at + 1)];
    // The value may be part of a secret: it is not repeated.
    if (at < 1 || value === '') throw this.#usage(`--${name}: expected ${placeholder}.`);
    const before = Object.entries(this.#fields[field] ?? {});
    if (before.some(([held]) => held === key)) throw this.#usage(`--${name}: ${key} is given twice.`);
    // Made from entries, so that a name such as __proto__ has no effect.
    this.#fields[field] = Object.fromEntries([...before, [key, value]]);
  }

  #givePositionals(verb: Verb): void {
    const { positionals, path } = verb;
    const words = [...this.#words];
    for (const positional of positionals) {
      const taken = words
        .splice(0, positional.rest === true ? words.length : 1)
        .map(({ text }) => fromText(positional.type, text));
      if (taken.length > 0) this.#fields[positional.field] = positional.rest === true ? taken : taken[0];
      else if (positional.required) throw this.#missing(verb, positional, `svc ${path}: ${missing(positional)}.`);
    }
    const extra = words[0];
    if (extra !== undefined) throw this.#usage(`svc ${path}: unexpected argument ${JSON.stringify(extra.text)}.`);
  }

  #requireFlags(verb: Verb): void {
    const lacking = verb.flags.find(
      (flag) => flag.required === true && flag.field !== undefined && this.#fields[flag.field] === undefined,
    );
    if (lacking === undefined) return;
    const choice = lacking.values === undefined ? '' : ` Expected one of ${lacking.values.join(', ')}.`;
    throw this.#missing(verb, lacking, `--${lacking.name}: this flag is required.${choice}`);
  }

  #missing(verb: Verb, named: Flag | Positional, message: string): MissingFailure {
    return new MissingFailure(message, { verb, named, flags: this.#flags });
  }

  #findFlag(name: string): Flag | undefined {
    return [...(this.#verb?.flags ?? []), ...this.#tree.globals].find((flag) => flag.name === name);
  }

  #unknownFlag(text: string, name: string): UsageFailure {
    const names = [...(this.#verb?.flags ?? []), ...this.#tree.globals].map((flag) => flag.name);
    const near = didYouMean(name, names).replace('"', '"--');
    const takesWords = this.#verb?.positionals.some((positional) => positional.rest === true) === true;
    const separator = takesWords && near === '' ? ' Put words that begin with a dash after --.' : '';
    const where = this.#verb === undefined ? '' : ` of svc ${this.#verb.path}`;
    return this.#usage(`Unknown flag ${JSON.stringify(text.split('=')[0])}${where}.${near}${separator}`);
  }

  #unknownWord(word: string): UsageFailure {
    const noun = this.#path.join(' ');
    const what = noun === '' ? 'Unknown command' : `Unknown verb of svc ${noun}:`;
    return this.#usage(`${what} ${JSON.stringify(word)}.${didYouMean(word, this.#verbNames(noun))}`);
  }

  /** The words that may follow a noun; with an empty noun all first words. */
  #verbNames(noun: string): string[] {
    if (noun === '') return this.#tree.nouns.map(({ name }) => name);
    return [...new Set(verbsOf(this.#tree, noun).map((verb) => verb.path.slice(noun.length + 1).split(' ')[0] ?? ''))];
  }

  #usage(message: string): UsageFailure {
    return new UsageFailure(message, ['svc', ...this.#path, '--help'].join(' '));
  }
}

/** A value that begins with two dashes is taken as a flag after a forgotten value; `--flag=--value` gives one. */
function nextValue(rest: Iterator<string>): string | null {
  const next = rest.next();
  return next.done === true || next.value.startsWith('--') ? null : next.value;
}

function missing({ field, rest, values }: Positional): string {
  if (values !== undefined) return `expected one of ${values.join(', ')}`;
  return rest === true ? `expected the words of the ${kebab(field)}, after --` : `expected the ${kebab(field)}`;
}

/** Converts text to its type. Text of another form stays text: the schema then refuses it and names the field. */
function fromText(type: ValueType, text: string): unknown {
  return type === 'number' && /^-?\d{1,15}(?:\.\d{1,15})?$/.test(text) ? Number(text) : text;
}
