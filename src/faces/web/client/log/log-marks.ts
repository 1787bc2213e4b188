/** Lines of a log by their addresses: `#L120`, `#L10-L20`, and the first error of a job that failed. */

const ADDRESS = /^#L(\d+)(?:-L(\d+))?$/;
export const ERROR = /\b(?:error|fatal|failed)\b/i;

/** Marks the lines that the address names, now and when it changes; a click with Shift extends it. */
export function markLines(box: HTMLElement): void {
  const mark = (): void => {
    for (const line of box.querySelectorAll('.marked')) line.classList.remove('marked');
    const [from, to] = addressed();
    if (from === 0) return;
    const first = document.querySelector(`#L${from}`);
    if (first === null) return fetchLine(box, from);
    for (let seq = from; seq <= to; seq += 1) {
      const line = document.querySelector(`#L${seq}`);
      if (line === null) break;
      line.classList.add('marked');
      line.removeAttribute('hidden');
    }
    first.scrollIntoView({ block: 'center' });
  };
  mark();
  window.addEventListener('hashchange', mark);
  box.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const [from] = addressed();
    if (!event.shiftKey || link === null || from === 0) return;
    event.preventDefault();
    const to = Number(link.textContent);
    location.hash = `#L${Math.min(from, to)}-L${Math.max(from, to)}`;
  });
}

/** Of the address; 0 without one. */
function addressed(): readonly [from: number, to: number] {
  const [, from = '0', to = from] = ADDRESS.exec(location.hash) ?? [];
  return [Number(from), Number(to)];
}

/** A line above those of this page is on a page that begins there. */
function fetchLine(box: HTMLElement, seq: number): void {
  const first = Number(box.querySelector('[id]')?.id.slice(1) ?? 0);
  if (seq < first) location.replace(`${location.pathname}?since=${seq - 1}${location.hash}`);
}

export function toFirstError(box: HTMLElement): void {
  if (document.querySelector('.head .fail') === null) return;
  const lines = [...box.querySelectorAll('[id]:not(.state)')];
  const line = lines.find(({ lastElementChild }) => ERROR.test(lastElementChild?.textContent ?? ''));
  // The box alone: the page begins with what the job is.
  if (line === undefined) return;
  line.classList.add('marked');
  box.scrollTop += line.getBoundingClientRect().top - box.getBoundingClientRect().top;
}
