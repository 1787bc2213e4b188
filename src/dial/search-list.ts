/** What resolv.conf(5) says about names that are not complete. */
interface SearchList {
  readonly domains: readonly string[];
  /** A name with as many dots is asked as it is first. */
  readonly dots: number;
}

/** As in the C library. */
const DOMAINS_MAX = 6;
const DOTS_MAX = 15;

/** The last `search` or `domain` line counts, as does the last `ndots`. Anything else is ignored. */
export function readSearchList(text: string): SearchList {
  let domains: readonly string[] = [];
  let dots = 1;
  for (const line of text.split('\n')) {
    const [content = ''] = line.split(/[#;]/, 1);
    const [word, ...values] = content.trim().split(/\s+/);
    if (word === 'search') domains = values;
    else if (word === 'domain') domains = values.slice(0, 1);
    else if (word === 'options') dots = values.reduce(dotsOf, dots);
  }
  return { domains: domains.filter((domain) => domain !== '.').slice(0, DOMAINS_MAX), dots };
}

/** The complete names to ask for, in their order. A name that ends with a dot is complete. */
export function candidates(name: string, { domains, dots }: SearchList): readonly string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)];
  const searched = domains.map((domain) => `${name}.${domain.replace(/\.$/, '')}`);
  return name.split('.').length - 1 >= dots ? [name, ...searched] : [...searched, name];
}

function dotsOf(before: number, option: string): number {
  const [, value] = /^ndots:(\d{1,3})$/.exec(option) ?? [];
  return value === undefined ? before : Math.min(Number(value), DOTS_MAX);
}
