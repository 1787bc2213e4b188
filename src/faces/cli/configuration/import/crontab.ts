import { Failure } from '../../../../domain/failure.ts';
import { isCredentialName } from '../../../../domain/secrets/credential-name.ts';
import { hasCredential } from './credential.ts';
import { Fields, LeftOut } from './reading/fields.ts';
import { Collector, type Imported } from './imported.ts';
import { checkSize } from './reading/read-export.ts';

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

/** What to do instead of each variable of cron itself; every other one is in the environment of the commands. */
const INSTEAD: Readonly<Record<string, string>> = {
  MAILTO: 'the output is kept with each job; for messages see svc serve --notify',
  MAILFROM: 'the output is kept with each job; for messages see svc serve --notify',
  RANDOM_DELAY: 'jobs are queued at the minute of their times',
};

/**
 * A crontab of a user, or one with users as /etc/crontab: each line becomes a schedule. Throws invalid_argument where
 * no line is one.
 */
export async function importCrontab(text: string): Promise<Imported> {
  checkSize(text);
  const found = await Collector.create();
  const lines = text.split(/\r?\n/);
  const hasUsers = lines.some((line) => USER_HEADING.test(line));
  const file = new Fields({ lines: lines.map((line) => fieldsOf(line.trim(), hasUsers)) }, 'file');
  const reading: Reading = { found, timezone: null, first: null, hasTimes: false, shell: 'sh', environment: new Map() };
  await found.each(file.objects('lines', 'line'), (line) => importLine(reading, line));
  const { hasTimes, first } = reading;
  if (!hasTimes) throw new Failure('invalid_argument', `file: no line is one of a crontab${first ?? ''}.`);
  if ([...found.schedules.values()].some((each) => each['timezone'] === undefined))
    found.note('Times are in UTC where a schedule has no timezone; write timezone: into it for another zone.');
  if (found.schedules.size > 0)
    found.note('Schedules are disabled; remove "enabled: false" once the crontab does not run them any more.');
  return found.finish(file);
}

/** The parts of a line; none of a comment. */
function fieldsOf(line: string, hasUsers: boolean): Readonly<Record<string, string>> {
  if (line === '' || line.startsWith('#')) return {};
  const [, variable, value = ''] = VARIABLE.exec(line) ?? [];
  if (variable !== undefined) return { variable, value };
  const [, nickname, ofNickname] = NICKNAMED.exec(line) ?? [];
  const [, five = '', ofFive = ''] = FIVE_FIELDS.exec(line) ?? [];
  const rest = ofNickname ?? ofFive;
  const user = hasUsers ? (/^\S+/.exec(rest)?.[0] ?? '') : '';
  return { times: nickname ?? five.split(/\s+/).join(' '), line, user, command: rest.slice(user.length).trim() };
}

interface Reading {
  readonly found: Collector;
  /** Of the lines that follow. */
  timezone: string | null;
  /** What is wrong with the first line whose times no schedule takes. */
  first: string | null;
  /** Whether a line has times of a crontab. */
  hasTimes: boolean;
  /** What runs the commands of the lines that follow. */
  shell: string;
  /** Of those commands; null for a value that no configuration may hold. */
  readonly environment: Map<string, string | null>;
}

async function importLine(reading: Reading, line: Fields): Promise<void> {
  if (line.has('variable')) return readVariable(reading, line);
  if (!line.has('line')) return;
  line.whole('line');
  const times = line.text('times');
  const cron = times?.startsWith('@') === true ? NICKNAMES[times] : times;
  const fault =
    cron === undefined || cron === null ? (times ?? 'it is no line of a crontab') : reading.found.timesFault(cron);
  reading.hasTimes ||= fault === null || times === '@reboot';
  if (fault !== null) reading.first ??= `; ${line.label}: ${fault}`;
  if (fault !== null || typeof cron !== 'string') throw new LeftOut(fault ?? '');
  await importCommand(reading, line, cron);
}

async function readVariable(reading: Reading, line: Fields): Promise<void> {
  const name = line.text('variable') ?? '';
  const value = line.text('value');
  if (Object.hasOwn(INSTEAD, name)) throw new LeftOut(`the variable ${name}; ${INSTEAD[name]}`);
  const plain = unquoted(value ?? '');
  if (name === 'CRON_TZ') reading.timezone = plain || null;
  else if (name === 'SHELL') reading.shell = plain === '' || plain === '/bin/sh' ? 'sh' : plain;
  else reading.environment.set(name, isSecret(name, plain) ? null : plain);
}

/** As cron reads it: without spaces at its ends, and without the quotes around it. */
function unquoted(value: string): string {
  const text = value.trim();
  return /^(["']).*\1$/.exec(text) === null || text.length < 2 ? text : text.slice(1, -1);
}

function isSecret(name: string, value: string): boolean {
  return isCredentialName(name) || hasCredential({ value });
}

async function importCommand(
  { found, timezone, shell, environment }: Reading,
  line: Fields,
  cron: string,
): Promise<void> {
  const [user, command] = [line.text('user'), line.text('command')];
  if (command === null) throw new LeftOut('it has no command');
  // An unescaped % begins the standard input of the command.
  if (/(?<!\\)%/.test(command)) throw new LeftOut('its command has a standard input (%)');
  if (command.startsWith('-')) throw new LeftOut('its command begins with an option of cron');
  // A command without one of its variables may do something else: rm -rf $DIR/* removes all files.
  const secret = [...environment].find(([, value]) => value === null)?.[0];
  if (secret !== undefined)
    throw new LeftOut(
      `its variable ${secret.slice(0, 60)} may be a credential: svc secret set keeps one, and a command reads it`,
    );
  const plain = command.replaceAll(String.raw`\%`, '%');
  const words = SHELL.test(plain) ? [shell, '-c', plain] : plain.split(/\s+/);
  const settings = [...environment].map(([name, value]) => `${name}=${value ?? ''}`);
  const ranAs = `it ran as ${user?.slice(0, 60)} (${line.label}); jobs run as the account of jobs`;
  const [program = ''] = plain.split(/\s/, 1);
  const title = program.slice(program.lastIndexOf('/') + 1);
  await found.schedule(
    { title, from: [line], losses: user === null ? [] : [ranAs] },
    {
      cron,
      ...(timezone === null ? {} : { timezone }),
      command: settings.length === 0 ? words : ['env', ...settings, ...words],
      inventory: 'localhost',
    },
  );
}
