/** A key by itself, where one does not type, for a person who has not turned them off. */
export function isSingle({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  const isTyping = target instanceof HTMLElement && target.closest('input, textarea, select, dialog') !== null;
  const isOff = document.documentElement.dataset['keys'] === 'off';
  return !isTyping && !isOff && !ctrlKey && !metaKey && !altKey;
}
