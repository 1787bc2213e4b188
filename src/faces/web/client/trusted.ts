/** As the platform has it; the types of TypeScript lack it. */
export interface TrustedWindow {
  readonly trustedTypes?: {
    createPolicy<Rules extends Readonly<Record<string, (text: string) => string>>>(name: string, rules: Rules): Rules;
  };
}

const { trustedTypes: types } = window as TrustedWindow;
/** Only pages of this server, which escapes every value in them, are made into nodes. */
const policy = types?.createPolicy('svc', { createHTML: (text) => text });

export function parsed(text: string): Document {
  return new DOMParser().parseFromString(policy?.createHTML(text) ?? text, 'text/html');
}

/** A new element with these properties, with texts and elements in it. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...inside: readonly (string | Node)[]
): HTMLElementTagNameMap[K] {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...inside);
  return element;
}
