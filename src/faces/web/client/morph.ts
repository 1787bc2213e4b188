/** Changes what the page shows into what it is now, and leaves what a person works with. */

/** Of idiomorph, which is served in front of this script: changes a node into another one and keeps what both have. */
declare const Idiomorph: {
  morph(
    before: Element,
    after: Element,
    options: {
      readonly morphStyle: 'outerHTML';
      readonly ignoreActiveValue: boolean;
      readonly callbacks: {
        readonly beforeAttributeUpdated: (name: string, node: Element) => boolean;
        readonly beforeNodeMorphed: (before: Node) => boolean;
      };
    },
  ): void;
};

/** What a person has opened, typed or works in stays. */
export function change(before: Element, after: Element): void {
  Idiomorph.morph(before, after, {
    morphStyle: 'outerHTML',
    ignoreActiveValue: true,
    callbacks: {
      beforeAttributeUpdated: (name, node) => !(name === 'open' && node.tagName === 'DETAILS'),
      beforeNodeMorphed: (node) =>
        !(node instanceof HTMLFormElement && isTouched(node)) &&
        !(node instanceof SVGElement && node === document.activeElement),
    },
  });
}

function isTouched(form: HTMLFormElement): boolean {
  if (form.contains(document.activeElement)) return true;
  return [...form.elements].some(
    (field) =>
      (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) && field.value !== field.defaultValue,
  );
}
