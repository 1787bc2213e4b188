/** Programs that take a script as an argument: text of an event in such a script would be run. */
const INTERPRETER = /^(?:sh|bash|dash|zsh|ksh|ash|fish|csh|tcsh|python[\d.]*|perl[\d.]*|ruby[\d.]*|node|nodejs|deno|bun|php[\d.]*|lua[\d.]*|awk|gawk|mawk|sed|pwsh|osascript)$/;
/** `-c`, `-ec`, `-e`, `--eval` and such: the next word is the script. */
const SCRIPT_FLAG = /^(?:-[A-Za-z]*[ceErp]|--(?:eval|exec|command|expression|print))$/;
/** These take their script as the first word that is no option. */
const BARE_SCRIPT = /^(?:awk|gawk|mawk|sed)$/;

/** Options of shells whose value is the next word. */
const WITH_VALUE = /^[-+][oO]$/;

/**
 * Refuses a command in which `${…}` stands in a script, as in `["sh", "-c", "echo ${event.name}"]`: whoever sends the
 * event would write the program. Words that hold `${…}` are null. Other programs that take scripts are not known here.
 */
export function refuseScript(words: readonly (string | null)[], refuse: (what: string) => never): void {
  words.forEach((word, at) => {
    if (word === null || !INTERPRETER.test(programOf(word)) || words[scriptAfter(words, at)] !== null) return;
    refuse('${…} in a script would let the event write the program; hand it over as an argument, as in ["sh", "-c", "echo \\"$1\\"", "sh", "${event.name}"]');
  });
}

/** Which word is the script of the interpreter at `at`; -1 where none is. */
function scriptAfter(words: readonly (string | null)[], at: number): number {
  for (let index = at + 1; index < words.length; index += 1) {
    const word = words[index] ?? '';
    if (SCRIPT_FLAG.test(word)) return index + 1;
    if (WITH_VALUE.test(word)) index += 1;
    else if (!word.startsWith('-')) return BARE_SCRIPT.test(programOf(words[at] ?? '')) ? index : -1;
  }
  return -1;
}

function programOf(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1);
}
