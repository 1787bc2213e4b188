const UNITS_BYTES = { GiB: 2 ** 30, MiB: 2 ** 20, KiB: 2 ** 10 } as const;

/** `512MiB` or `2GiB` to bytes; null for any other text. */
export function parseSize(text: string): number | null {
  const match = /^([1-9]\d{0,6})(MiB|GiB)$/.exec(text);
  if (match === null) return null;
  return Number(match[1]) * (match[2] === 'GiB' ? UNITS_BYTES.GiB : UNITS_BYTES.MiB);
}

/** Bytes for people: in the largest unit of which there is at least one, with at most one decimal. */
export function formatSize(bytes: number): string {
  for (const [unit, size] of Object.entries(UNITS_BYTES)) {
    if (bytes >= size) return `${(bytes / size).toFixed(1).replace(/\.0$/, '')} ${unit}`;
  }
  return `${bytes} bytes`;
}
