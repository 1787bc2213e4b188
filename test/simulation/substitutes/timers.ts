/** By the global one, which asks the world. */
export function setImmediate(): Promise<void> {
  return new Promise((resolve) => void globalThis.setImmediate(resolve));
}
