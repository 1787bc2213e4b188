/**
 * How a person wants to see the pages: kept in a cookie, which the service reads, so that a page is right at once and
 * none flashes in another colour.
 */
import { localise } from './times.ts';

const YEAR_S = 31_536_000;

/** The choices are those of the service, by the names of their fields. */
export function offerPreferences(): void {
  const place = document.querySelector<HTMLDetailsElement>('#view');
  if (place === null) return;
  place.hidden = false;
  place.addEventListener('change', () => {
    const root = document.documentElement;
    const fields = [...place.querySelectorAll('select')];
    for (const { name, value } of fields) root.dataset[name] = value;
    const text = fields.map(({ value }) => value).join('.');
    document.cookie = `svc_view=${text}; Path=${root.dataset['base'] || '/'}; Max-Age=${YEAR_S}; SameSite=Lax`;
    localise(document);
  });
}
