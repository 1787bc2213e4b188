/** Replace the directory of the run and the data directory in recorded output. */
const RUN_WORD = '[run]';
const DATA_WORD = '[data]';

/** Folders whose place on the machine is not for readers of a job's output. Absolute, without a slash at the end. */
export interface HiddenFolders {
  readonly run: string;
  /** The data directory, and the folder of all runs. */
  readonly data: readonly string[];
}

/** Text that is replaced by a word, which is no secret. */
export interface PathForm {
  readonly form: string;
  readonly word: string;
}

/** The directory of a run last: it lies in the data directory, and where both are found the last one counts. */
export function pathForms({ run, data }: HiddenFolders): PathForm[] {
  return [...data.flatMap((path) => formsOf(path, DATA_WORD)), ...formsOf(run, RUN_WORD)];
}

/** The path as it is, in JSON and in a URL. `/data` matches only if a name follows: `/database` is another folder. */
function formsOf(path: string, word: string): PathForm[] {
  const names = path.split('/').filter((name) => name !== '');
  if (names.length === 0) return [];
  const end = names.length === 1 ? '/' : '';
  const forms = new Set([path, JSON.stringify(path).slice(1, -1), encodeURI(path)]);
  return Array.from(forms, (form) => ({ form: form + end, word: word + end }));
}
