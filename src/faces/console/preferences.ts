/** How a person wants to see the pages: in a cookie that their script writes, and that decides nothing else. */
import { html, Html } from '../html/html.ts';

const VIEW_COOKIE = 'svc_view';

/** In the order of the cookie. The first value of each is what a browser without the cookie gets. */
const CHOICES = {
  scheme: ['auto', 'light', 'dark'],
  density: ['comfortable', 'compact'],
  times: ['utc', 'local'],
  keys: ['on', 'off'],
} as const;

const LABELS: Readonly<Record<keyof typeof CHOICES, string>> = {
  scheme: 'Colours',
  density: 'Density',
  times: 'Times',
  keys: 'Single keys',
};

type Choice = keyof typeof CHOICES;
export type Preferences = Readonly<Record<Choice, string>>;

/** Of a Cookie header; any other value is the standard. */
export function preferencesOf(cookies: string | undefined): Preferences {
  const text = new RegExp(`(?:^|;) *${VIEW_COOKIE}=([a-z.]{1,64})(?:;|$)`).exec(cookies ?? '')?.[1] ?? '';
  const given = text.split('.');
  const [scheme, density, times, keys] = entries().map(
    ([, values], at) => values.find((value) => value === given[at]) ?? values[0] ?? '',
  );
  return { scheme: scheme ?? '', density: density ?? '', times: times ?? '', keys: keys ?? '' };
}

/** Attributes of the page, which the style sheet and the script go by. */
export function attributesOf(preferences: Preferences): Html {
  return html`${entries().map(([name]) => new Html(` data-${name}="${preferences[name]}"`))}`;
}

/** Hidden until the script that carries it out has run. */
export function preferencesHtml(preferences: Preferences): Html {
  const fields = entries().map(([name, values]) => {
    const options = values.map(
      (value) => html`<option${value === preferences[name] ? html` selected` : html``}>${value}</option>`,
    );
    return html`<label>${LABELS[name]}<select name="${name}">${options}</select></label>\n`;
  });
  return html`<details id="view" hidden><summary>View</summary>\n${fields}</details>\n`;
}

function entries(): readonly (readonly [Choice, readonly string[]])[] {
  return Object.entries(CHOICES) as [Choice, readonly string[]][];
}
