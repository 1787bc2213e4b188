import { Failure } from '../../failure.ts';
import { CONFIG_LIMITS } from '../file.ts';
import { Collector, type Imported } from './imported.ts';

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

/**
 * A crontab of a user, or one with users as /etc/crontab: each line becomes a schedule. Throws invalid_argument where
 * no line is one.
 */
export function importCrontab(text: string): Imported {
  if (Buffer.byteLength(text) > CONFIG_LIMITS.bytesMax)
    throw new Failure('invalid_argument', `file: expected at most ${CONFIG_LIMITS.bytesMax} bytes.`);
  const found = new Collector();
  const lines = text.split(/\r?\n/);
  const hasUsers = lines.some((line) => USER_HEADING.test(line));
  let timezone: string | null = null;
  for (const [index, whole] of lines.entries()) {
    const line = whole.trim();
    if (line === '' || line.startsWith('#')) continue;
    const [, name, value = ''] = VARIABLE.exec(line) ?? [];
    if (name === 'CRON_TZ' || name === 'TZ') timezone = value.replaceAll(/["']/g, '');
    else if (name === undefined) importLine(found, index + 1, line, { hasUsers, timezone });
    else found.leave(`line ${index + 1}`, `the variable ${name.slice(0, 60)}; write it into the command`);
  }
  if (found.schedules.size === 0 && found.notes.length === 0)
    throw new Failure('invalid_argument', 'file: no line is one of a crontab.');
  if (found.schedules.size > 0) {
    if (timezone === null) found.note('Times are in UTC; write timezone: into each schedule for another zone.');
    found.note('Schedules are disabled; remove "enabled: false" once the crontab does not run them any more.');
  }
  return found;
}

interface Reading {
  readonly hasUsers: boolean;
  readonly timezone: string | null;
}

function importLine(found: Collector, number: number, line: string, { hasUsers, timezone }: Reading): void {
  const [, nickname, ofNickname] = NICKNAMED.exec(line) ?? [];
  const [, fields, ofFields = ''] = FIVE_FIELDS.exec(line) ?? [];
  const cron = nickname === undefined ? fields?.split(/\s+/).join(' ') : NICKNAMES[nickname];
  if (cron === undefined) return found.leave(`line ${number}`, nickname ?? 'it is no line of a crontab');
  const rest = ofNickname ?? ofFields;
  const user = hasUsers ? (/^\S+/.exec(rest)?.[0] ?? '') : null;
  const command = user === null ? rest : rest.slice(user.length).trim();
  if (command === '') return found.leave(`line ${number}`, 'it has no command');
  // An unescaped % begins the standard input of the command.
  if (/(?<!\\)%/.test(command)) return found.leave(`line ${number}`, 'its command has a standard input (%)');
  const plain = command.replaceAll(String.raw`\%`, '%');
  const words = SHELL.test(plain) ? ['sh', '-c', plain] : plain.split(/\s+/);
  if (user !== null) found.note(`Line ${number}: it ran as ${user.slice(0, 60)}; jobs run as the account of jobs.`);
  const [program = ''] = plain.split(/\s/, 1);
  const title = program.slice(program.lastIndexOf('/') + 1);
  found.schedule(title, { cron, ...(timezone === null ? {} : { timezone }), command: words, inventory: 'localhost' });
}
