/** Copies the command or address before a button; over plain http browsers only copy what is selected. */
export function offerCopies(): void {
  document.documentElement.dataset['copy'] = 'on';
  document.addEventListener('click', ({ target }) => {
    if (!(target instanceof Element) || !target.matches('.copy')) return;
    const text = target.previousElementSibling;
    if (text === null) return;
    getSelection()?.selectAllChildren(text);
    if ('clipboard' in navigator) void navigator.clipboard.writeText(text.textContent);
    else document.execCommand('copy');
    target.textContent = 'Copied';
  });
}
