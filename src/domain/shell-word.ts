/** The word as one word of a POSIX shell, whatever it holds. */
export function shellWord(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

const PLAIN = /^[\w@%+=:,./-]+$/;

/** The same for people: in quotes only where a shell would need them. */
export function readableWord(word: string): string {
  return PLAIN.test(word) ? word : shellWord(word);
}
