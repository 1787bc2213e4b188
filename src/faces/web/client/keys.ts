/** `g` and a letter opens a section, `/` the first filter, `p` pauses. No key decides anything. */
import type { LivePage } from './live-page.ts';
import type { Palette } from './palette.ts';
import { isSingle } from './single-key.ts';

const SECTIONS: Readonly<Record<string, string>> = {
  o: 'Overview',
  a: 'Approvals',
  j: 'Jobs',
  e: 'Events',
  r: 'Rules',
  c: 'Checks',
  q: 'Quiet',
  s: 'Schedules',
  w: 'Workspaces',
  b: 'Backups',
  y: 'System',
};

export function listenToKeys(page: LivePage | null, palette: Palette): void {
  let afterG = false;
  document.addEventListener('keydown', (event) => {
    const { key, ctrlKey, metaKey, altKey } = event;
    if ((ctrlKey || metaKey) && !altKey && key.toLowerCase() === 'k') {
      event.preventDefault();
      palette.open();
      return;
    }
    if (!isSingle(event)) return;
    const section = afterG ? SECTIONS[key] : undefined;
    afterG = key === 'g';
    if (section !== undefined) openSection(section);
    else if (key === 'p') page?.toggle();
    else if (key === 'j' || key === 'k') moveRow(key === 'j' ? 1 : -1);
    else if (key === '/') {
      event.preventDefault();
      const filter = document.querySelector<HTMLElement>('.filter input, .filter select');
      if (filter === null) palette.open();
      else filter.focus();
    } else if (key === '?') palette.open();
  });
}

function openSection(section: string): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('nav[aria-label=Sections] a')];
  links.find((link) => link.textContent.startsWith(section))?.click();
}

/** To the link of the next row, or of the one before. */
function moveRow(by: number): void {
  const rows = [...document.querySelectorAll('#page tbody tr')].filter((row) => row.querySelector('a') !== null);
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[at === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))];
  next?.querySelector('a')?.focus();
}
