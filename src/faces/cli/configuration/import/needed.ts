import { type Collector, nameOf } from './imported.ts';

/** What the schedules of an export name and a configuration file does not hold. */

export function noteSource(found: Collector, title: string | null, url: string | null, branch: string | null): void {
  if (title === null) return;
  const git = url === null ? '--dir DIR' : `--git ${withoutUserinfo(url)}${branch === null ? '' : ` --ref ${branch}`}`;
  found.note(`Needed: svc source add ${nameOf(title)} ${git}`);
  if (url !== null && withoutUserinfo(url) !== url)
    found.note(`${nameOf(title)}: the credential in its URL is left out.`);
}

export function noteInventory(found: Collector, title: string | null): void {
  if (title !== null) found.note(`Needed: svc inventory add ${nameOf(title)} --file FILE`);
}

/** A credential of the other program is not shown. */
function withoutUserinfo(url: string): string {
  return url.replace(/:\/\/[^/?#]*@/, '://');
}
