/**
 * The script of the console. Pages work without it; with it they show what is true now, and have keys. It is served as
 * one file, its modules joined and without their types, behind idiomorph.
 */
import { offerCopies } from './copy.ts';
import { listenToKeys } from './keys.ts';
import { LivePage } from './live-page.ts';
import { Palette } from './palette.ts';
import { offerPreferences } from './preferences.ts';
import { listenToStrips } from './strips.ts';
import { localise } from './times.ts';

/** A form is sent once: a second press before the answer does nothing. */
document.addEventListener('submit', (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || form.method !== 'post') return;
  if (form.dataset['sent'] === 'yes') event.preventDefault();
  form.dataset['sent'] = 'yes';
});
// A page that the browser shows again from its memory can send its forms again.
window.addEventListener('pageshow', () => {
  for (const form of document.forms) delete form.dataset['sent'];
});

const line = document.querySelector<HTMLElement>('#live');
const button = document.querySelector<HTMLButtonElement>('#pause');
const page = line === null || button === null ? null : new LivePage(line, button);
page?.start();
offerPreferences();
offerCopies();
localise(document);
listenToKeys(page, new Palette());
listenToStrips();
