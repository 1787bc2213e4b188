/** As the platform has it; the types of TypeScript lack it. */
interface TrustedTypes {
  createPolicy(name: string, rules: { createHTML(text: string): string }): { createHTML(text: string): string };
}

const types = (window as unknown as { trustedTypes?: TrustedTypes }).trustedTypes;
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
