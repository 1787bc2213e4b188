/** Times are shown in UTC, or in the zone of the browser where its person has chosen that; both are in the title. */

export function localise(root: ParentNode): void {
  const isLocal = document.documentElement.dataset['times'] === 'local';
  for (const each of root.querySelectorAll<HTMLTimeElement>('time[datetime]')) {
    // As the service wrote it; changed by a look at the page, it is the newer one.
    if (each.dataset['local'] !== each.textContent) each.dataset['utc'] = each.textContent;
    const utc = each.dataset['utc'] ?? '';
    const at = new Date(each.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    const local = formatted(at, utc);
    each.dataset['local'] = local;
    each.title = isLocal ? at.toISOString() : local;
    const text = isLocal ? local : utc;
    if (each.textContent !== text) each.textContent = text;
  }
}

/** As exact as the text of the service: with the date and the seconds where that has them. */
function formatted(at: Date, like: string): string {
  const date = /\d{4}-/.test(like) ? `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ` : '';
  const seconds = /:\d\d:/.test(like) ? `:${two(at.getSeconds())}` : '';
  const east = -at.getTimezoneOffset();
  const zone = `${east < 0 ? '−' : '+'}${two(Math.floor(Math.abs(east) / 60))}:${two(Math.abs(east) % 60)}`;
  return `${date}${two(at.getHours())}:${two(at.getMinutes())}${seconds} ${zone}`;
}

function two(part: number): string {
  return String(part).padStart(2, '0');
}
