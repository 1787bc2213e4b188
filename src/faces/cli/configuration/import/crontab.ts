import { Failure } from '../../../../domain/failure.ts';
import { checkSize, Collector, type Imported, textIn } from './imported.ts';

/** A line of five fields for each word that stands for one, as crontab(5) of Debian has them. */
const NICKNAMES: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

const VARIABLE = /^([A-Za-z_]\w*)\s*=\s*(.*)$/;
const NICKNAMED = /^(@[a-z]+)\s+(.+)$/;
const FIVE_FIELDS = /^((?:\S+\s+){4}\S+)\s+(.+)$/;
/**
 * In the heading of /etc/crontab: a user before the command. The first form is that of Debian up to 10, the second that
 * of later ones.
 */
const USER_HEADING = /^#.*\b(?:dow\s+user|user-name)\b/;
/** A command without any of these needs no shell. */
const SHELL = /[\\"'$`|&;<>(){}*?[\]~#!=\n]/;

/** What to do instead of each variable; the default is for those of commands. */
const INSTEAD: Readonly<Record<string, string>> = {
  MAILTO: 'the output is kept with each job; for messages see svc serve --notify',
  MAILFROM: 'the output is kept with each job; for messages see svc serve --notify',
  SHELL: 'a command that needs a shell runs as sh -c',
};

/**
 * A crontab of a user, or one with users as /etc/crontab: each line becomes a schedule. Throws invalid_argument where
 * no line is one.
 */
export async function importCrontab(text: string): Promise<Imported> {
  checkSize(text);
  const found = await Collector.ofSchedules();
  const lines = text.split(/\r?\n/);
  const hasUsers = lines.some((line) => USER_HEADING.test(line));
  let timezone: string | null = null;
  let first: string | null = null;
  let hasTimes = false;
  for (const [index, whole] of lines.entries()) {
    const line = whole.trim();
    if (line === '' || line.startsWith('#')) continue;
    const [, name, value = ''] = VARIABLE.exec(line) ?? [];
    if (name === 'CRON_TZ' || name === 'TZ') timezone = textIn(value.replaceAll(/["']/g, ''));
    else if (name === undefined) {
      const fault = importLine(found, index + 1, line, { hasUsers, timezone });
      hasTimes ||= fault === null;
      first ??= fault === null ? null : `line ${index + 1}: ${fault}`;
    } else noteVariable(found, index + 1, name.slice(0, 60));
  }
  if (!hasTimes)
    throw new Failure('invalid_argument', `file: no line is one of a crontab${first === null ? '' : `; ${first}`}.`);
  if ([...found.schedules.values()].some((each) => each['timezone'] === undefined))
    found.note('Times are in UTC where a schedule has no timezone; write timezone: into it for another zone.');
  if (found.schedules.size > 0)
    found.note('Schedules are disabled; remove "enabled: false" once the crontab does not run them any more.');
  return found;
}

function noteVariable(found: Collector, number: number, name: string): void {
  const instead = Object.hasOwn(INSTEAD, name) ? INSTEAD[name] : `a command can set it: env ${name}=VALUE COMMAND`;
  found.leave(`line ${number}`, `the variable ${name}; ${instead}`);
}

interface Reading {
  readonly hasUsers: boolean;
  readonly timezone: string | null;
}

/** What is wrong with the times of the line, which is noted; null for a line of a crontab. */
function importLine(found: Collector, number: number, line: string, { hasUsers, timezone }: Reading): string | null {
  const [, nickname, ofNickname] = NICKNAMED.exec(line) ?? [];
  const [, fields, ofFields = ''] = FIVE_FIELDS.exec(line) ?? [];
  const cron = nickname === undefined ? fields?.split(/\s+/).join(' ') : NICKNAMES[nickname];
  const what = `line ${number}`;
  const fault = cron === undefined ? (nickname ?? 'it is no line of a crontab') : found.timesFault(cron, null);
  if (cron === undefined || fault !== null) {
    found.leave(what, fault ?? '');
    return nickname === '@reboot' ? null : fault;
  }
  importCommand(found, what, ofNickname ?? ofFields, { cron, hasUsers, timezone });
  return null;
}

function importCommand(
  found: Collector,
  what: string,
  rest: string,
  { cron, hasUsers, timezone }: Reading & { readonly cron: string },
): void {
  const user = hasUsers ? (/^\S+/.exec(rest)?.[0] ?? '') : null;
  const command = user === null ? rest : rest.slice(user.length).trim();
  if (command === '') return found.leave(what, 'it has no command');
  // An unescaped % begins the standard input of the command.
  if (/(?<!\\)%/.test(command)) return found.leave(what, 'its command has a standard input (%)');
  const plain = command.replaceAll(String.raw`\%`, '%');
  const words = SHELL.test(plain) ? ['sh', '-c', plain] : plain.split(/\s+/);
  const losses = user === null ? [] : [`it ran as ${user.slice(0, 60)} (${what}); jobs run as the account of jobs`];
  const [program = ''] = plain.split(/\s/, 1);
  const title = program.slice(program.lastIndexOf('/') + 1);
  found.schedule(
    { title, what, losses },
    { cron, ...(timezone === null ? {} : { timezone }), command: words, inventory: 'localhost' },
  );
}
