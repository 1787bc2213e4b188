/** A text with one of these gets double quotes: other forms keep no line break but `\n`, and the others are unseen. */
const UNSEEN = /[^\P{C}\n]|[\p{Zl}\p{Zp}\u115F\u1160\u3164\uFFA0]/u;
const EACH_UNSEEN = new RegExp(UNSEEN, 'gu');

/** Writes texts, lists and maps as YAML that `readYaml` reads as the same ones; what a terminal hides is escaped. */
export async function writeYaml(value: Readonly<Record<string, unknown>>): Promise<string> {
  const { default: yaml } = await import('yaml');
  const document = new yaml.Document(value, { aliasDuplicateObjects: false });
  yaml.visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === 'string' && UNSEEN.test(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  return document.toString({ lineWidth: 0, doubleQuotedAsJSON: true }).replaceAll(EACH_UNSEEN, escape);
}

function escape(character: string): string {
  return `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`;
}
