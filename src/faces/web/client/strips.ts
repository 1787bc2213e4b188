/** Arrows move in a strip of half hours, and what the one is about is shown beside it. */

const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, Home: -1_000, End: 1_000 };

export function listenToStrips(): void {
  document.addEventListener('keydown', (event) => {
    const { target, key } = event;
    const step = STEPS[key];
    if (!(target instanceof Element) || !target.matches('.strip') || step === undefined) return;
    event.preventDefault();
    const before = target.querySelector('[aria-selected=true]');
    const slots = [...target.children];
    const at = before === null ? slots.length : slots.indexOf(before);
    const slot = slots[Math.max(0, Math.min(slots.length - 1, at + step))];
    before?.setAttribute('aria-selected', 'false');
    slot?.setAttribute('aria-selected', 'true');
    target.setAttribute('aria-activedescendant', slot?.id ?? '');
    const text = target.nextElementSibling;
    if (text !== null) text.textContent = slot?.textContent ?? '';
  });
}
