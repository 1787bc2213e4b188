/** The last 24 hours of a target in half hours: a strip whose slots have names, and the same as a table. */
import type { HalfHour } from '../../../domain/checks/check.ts';
import { stripStart } from '../../../domain/checks/sweep/availability.ts';
import { SLOT_MS } from '../../../domain/checks/sweep/day.ts';
import { html, type Html } from '../../html/html.ts';
import { clockTime } from '../../text/time.ts';

/** Heights that tell the states apart without colour, and what they mean. */
const STATES: Readonly<Record<HalfHour, { readonly height: number; readonly words: string }>> = {
  up: { height: 16, words: 'up' },
  down: { height: 7, words: 'down at least once' },
  missed: { height: 2, words: 'unclear' },
  none: { height: 1, words: 'no observation' },
};

interface Strip {
  readonly name: string;
  /** The worst of each half hour, the oldest first; the last one has not ended. */
  readonly slots: readonly HalfHour[];
}

/** One stop of the keyboard; with scripts on, arrows move in it. `place` is its number on the page. */
export function stripHtml({ name, slots }: Strip, place: number, label: string, nowMs: number): Html {
  const bars = slots.map((slot, at) => {
    const { height, words } = STATES[slot];
    return html`<rect id="s${place}-${at}" role="option" aria-selected="false" class="${slot}" x="${at * 4}" \
y="${16 - height}" width="3" height="${height}"><title>${spanOf(at, at + 1, nowMs)}: ${words}</title></rect>`;
  });
  return html`<svg class="strip" role="listbox" tabindex="0" aria-orientation="horizontal" \
aria-label="${name}: ${label}" viewBox="0 0 ${slots.length * 4} 16" preserveAspectRatio="none">${bars}</svg>\
<span class="slot soft" aria-hidden="true"></span> `;
}

/** Half hours that follow each other in one state are one row. */
export function stripTable(strips: readonly Strip[], nowMs: number): Html {
  const rows = strips.flatMap(({ name, slots }) =>
    slots.flatMap((slot, from) => {
      if (slot === slots[from - 1]) return [];
      const after = slots.findIndex((each, at) => at > from && each !== slot);
      const time = spanOf(from, after === -1 ? slots.length : after, nowMs);
      return [
        html`<tr><td data-t="Target">${name}</td><td data-t="Time">${time}</td>\
<td data-t="State">${STATES[slot].words}</td></tr>\n`,
      ];
    }),
  );
  return html`<details><summary>The last 24 hours as a table</summary>
<table>
<thead><tr><th scope="col">Target</th><th scope="col">Time</th><th scope="col">State</th></tr></thead>
<tbody>
${rows}</tbody>
</table>
</details>
`;
}

/** `13:30 to 14:00 UTC`; of another day with its date. */
function spanOf(from: number, to: number, nowMs: number): string {
  const start = stripStart(nowMs);
  const [first, last] = [from, to].map((slot) => clockTime(start + slot * SLOT_MS, nowMs, 'minutes'));
  return `${first?.replace(' UTC', '')} to ${last}`;
}
