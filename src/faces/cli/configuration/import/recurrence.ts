/** The times of a recurrence rule (RFC 5545) as fields of a schedule. */
interface Times {
  readonly cron: string;
  readonly timezone?: string;
}

const START = /DTSTART(?:;TZID=([A-Za-z0-9_+/-]{1,100}))?:\d{6}(\d\d)T(\d\d)(\d\d)\d\dZ?/;
const RULE = /RRULE:([A-Z0-9=;,+-]{1,500})/;
const DAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];
/** Parts that a cron line can say, and ones without effect on it. */
const KNOWN = ['FREQ', 'INTERVAL', 'BYDAY', 'BYMONTHDAY', 'WKST'];

/** Null for a rule that no cron line says, such as one with an end or every other week. */
export function cronOfRule(text: string): Times | null {
  const [, zone, startDay = '', hour = '', minute = ''] = START.exec(text) ?? [];
  const rule = RULE.exec(text)?.[1];
  if (rule === undefined || minute === '') return null;
  const parts = new Map(rule.split(';').map((part) => part.split('=', 2) as [string, string]));
  if ([...parts.keys()].some((part) => !KNOWN.includes(part))) return null;
  const cron = cronOf(parts, { minute: Number(minute), hour: Number(hour), day: Number(startDay) });
  if (cron === null) return null;
  return zone === undefined || zone === 'UTC' ? { cron } : { cron, timezone: zone };
}

interface Start {
  readonly minute: number;
  readonly hour: number;
  readonly day: number;
}

function cronOf(parts: ReadonlyMap<string, string>, { minute, hour, day }: Start): string | null {
  const interval = Number(parts.get('INTERVAL') ?? '1');
  const days = daysIn(parts.get('BYDAY'));
  const monthDay = parts.get('BYMONTHDAY');
  const frequency = parts.get('FREQ');
  if (days === null) return null;
  if (frequency === 'MINUTELY' && interval >= 1 && 60 % interval === 0 && monthDay === undefined)
    return `*/${interval} * * * ${days}`;
  if (frequency === 'HOURLY' && interval >= 1 && 24 % interval === 0 && monthDay === undefined)
    return `${minute} ${interval === 1 ? '*' : `${hour % interval}/${interval}`} * * ${days}`;
  if (interval !== 1) return null;
  if (frequency === 'DAILY' && monthDay === undefined) return `${minute} ${hour} * * ${days}`;
  if (frequency === 'WEEKLY' && days !== '*' && monthDay === undefined) return `${minute} ${hour} * * ${days}`;
  const dayOfMonth = monthDay ?? String(day);
  if (frequency === 'MONTHLY' && days === '*' && /^(?:[1-9]|[12]\d|3[01])$/.test(dayOfMonth))
    return `${minute} ${hour} ${dayOfMonth} * *`;
  return null;
}

/** `MO,FR` as `1,5`; `*` without days, and null for days such as the first Monday. */
function daysIn(text: string | undefined): string | null {
  if (text === undefined) return '*';
  const days = text.split(',').map((each) => DAYS.indexOf(each));
  return days.includes(-1) ? null : days.toSorted((a, b) => a - b).join(',');
}
