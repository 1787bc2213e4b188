import { EVENT_LIMITS, type EventFacts, NO_EVENT } from '../events/event.ts';
import { ActionRefused } from '../actions/action-refused.ts';
import { isNameValue, isPathValue, PATH_CHARACTERS_MAX } from '../actions/event-value.ts';
import { shown, type Template, type TemplateExpression } from '../actions/template.ts';

/**
 * The words of a rule's command: where `${…}` is allowed, and what it may yield. The value is bounded, so that no
 * program can read it as an option, a list, a pattern or code. Programs that run their arguments take no `${…}` at all.
 */

/** A compiled word. Its error names no field. */
type Word = (facts: EventFacts) => { readonly text: string } | { readonly error: string };

/** Shells, language interpreters and programs that start other programs. A version may follow the name. */
const LAUNCHERS = new Set(
  (
    'sh bash rbash dash zsh ksh mksh ash csh tcsh fish pwsh powershell busybox toybox eval exec command time ' +
    'python ipython pypy perl ruby irb lua luajit node nodejs npx tsx deno bun php php-cgi tclsh expect awk gawk ' +
    'mawk nawk sed gsed java Rscript julia guile elixir dotnet osascript env sudo su doas runuser gosu su-exec ' +
    'setpriv pkexec chroot unshare nsenter systemd-run xargs parallel watch script sg capsh bwrap firejail ' +
    'fakeroot unbuffer prlimit numactl timeout nice ionice nohup setsid stdbuf taskset chrt flock strace ltrace ' +
    'tini dumb-init ld.so entr gdb machinectl ssh autossh sshpass rsh mosh'
  ).split(' '),
);
/** The dynamic loader: `ld-linux-x86-64.so.2`, `ld-musl-x86_64.so.1`, `ld64.so.2`, `ld-2.31.so`. */
const LOADER = /^ld(?:64|-[\w.-]+)\.so(?:\.\d+)?$/;
/** `python3.11`, `bash-static`, `python3.12-dbg`, `perl5.36-x86_64-linux-gnu` */
const VARIANT = /(?:-?\d[\d.]*[dmu]?)?(?:[-.](?:static|dbg|debug|[a-z0-9_]+-linux-[a-z0-9]+))?$/;

const CHARACTERS = 'letters, digits and _ . : @ -';
const NAME_EXPECTED = `expected a name: ${CHARACTERS}, at most 253 characters, the first a letter, a digit or _`;
const PATH_CHARACTERS = `/ and then ${CHARACTERS} /, at most ${PATH_CHARACTERS_MAX} characters`;
const PATH_EXPECTED = `expected an absolute path: ${PATH_CHARACTERS}, without ".."`;

/**
 * Checks the words and their `${…}`. With `isEarlier`, the rule was stored by an earlier build: `${…}` is allowed where
 * that build allowed it, and as a whole word it may also yield a path. Throws ActionRefused.
 */
export function commandWords(templates: readonly Template[], isEarlier: boolean): Word[] {
  const first = templates[0]?.fixed ?? null;
  if (first === null) throw new ActionRefused('command', 'it names the program and must not come from the event', 0);
  if (first === '') throw new ActionRefused('command', 'expected the name of a program', 0);
  return templates.map((template, index) => {
    if (template.fixed === null && !isEarlier) refuseForm(template, index, first);
    return wordOf(template, index, {
      takesPath: isEarlier && template.parts.length === 1,
      hintsAtPath: formFault(template, first, true) === null,
    });
  });
}

/** The first word, from 0, that accepted a path in an earlier build and may refuse it now; null without one. */
export function refusesPaths(templates: readonly Template[]): number | null {
  const index = templates.findIndex(({ parts }) =>
    parts.some((part) => parts.length > 1 && 'fill' in part && !part.isPath && !part.isNumber && !part.isConstant),
  );
  return index < 0 ? null : index;
}

function refuseForm(template: Template, index: number, first: string): void {
  const expressions = template.parts.filter((part) => 'fill' in part);
  const fault = formFault(
    template,
    first,
    expressions.some(({ isPath }) => isPath),
  );
  if (fault !== null) throw new ActionRefused('command', fault, index);
  for (const part of expressions.filter(({ isConstant }) => isConstant)) {
    const filled = value(part, NO_EVENT, { takesPath: false, hintsAtPath: formFault(template, first, true) === null });
    if ('error' in filled) throw new ActionRefused('command', filled.error, index);
  }
}

/** Why `${…}`, or `${path(…)}`, is not accepted at its place; null where it is. */
function formFault({ parts }: Template, first: string, isPath: boolean): string | null {
  const launcher = first.slice(first.lastIndexOf('/') + 1);
  if (LAUNCHERS.has(launcher.replace(VARIANT, '')) || LOADER.test(launcher))
    return (
      `${JSON.stringify(launcher)} runs its arguments, so \${…} is not accepted in them; put the ` +
      'program or your own script first'
    );
  const [before] = parts;
  const end = parts.length === 2 && before !== undefined && 'literal' in before ? before.literal.slice(-1) : '';
  if (parts.length > 1 && (end === '' || !'=/:'.includes(end)))
    return '${…} must be a whole word, or the end of a word whose text before it ends with "=", "/" or ":"';
  return isPath && end === '/' ? '${path(…)} is an absolute path; the text before it must not end with "/"' : null;
}

interface Accepted {
  /** A name or a path, as in an earlier build. */
  readonly takesPath: boolean;
  /** `${path(…)}` would be accepted at this place. */
  readonly hintsAtPath: boolean;
}

function wordOf({ parts }: Template, index: number, accepted: Accepted): Word {
  const literals = parts.map((part) => ('literal' in part ? part.literal : ''));
  if (literals.some((literal) => literal.includes('\0') || !literal.isWellFormed()))
    throw new ActionRefused('command', 'it has a character that cannot be passed to a program', index);
  return (facts) => {
    let text = '';
    for (const part of parts) {
      const filled = 'literal' in part ? { text: part.literal } : value(part, facts, accepted);
      if ('error' in filled) return { error: `word ${index + 1}: ${filled.error}` };
      text += filled.text;
    }
    return { text };
  };
}

function value(part: TemplateExpression, facts: EventFacts, { takesPath, hintsAtPath }: Accepted): ReturnType<Word> {
  const filled = part.fill(facts);
  if ('error' in filled) return filled;
  const { text } = filled;
  // A name that is cut to this length is short enough for both forms.
  const cut = (['name', 'severity'] as const).find((key) => facts[key]?.length === EVENT_LIMITS.nameCharacters);
  if (cut !== undefined && text.includes(facts[cut] ?? ''))
    return { error: `event.${cut} is not accepted; expected fewer than ${EVENT_LIMITS.nameCharacters} characters` };
  const isPath = isPathValue(text);
  if (part.isPath ? isPath : isNameValue(text) || (takesPath && isPath)) return filled;
  const hint = isPath && hintsAtPath ? '; write ${path(…)} for an absolute path' : '';
  return { error: `${shown([part], text, facts)}; ${part.isPath ? PATH_EXPECTED : NAME_EXPECTED}${hint}` };
}
