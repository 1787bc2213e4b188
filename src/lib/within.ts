/** Whether a path is another one or lies below it. Both must be absolute, without links and `..`. */
export function isWithin(inner: string, outer: string): boolean {
  return `${inner}/`.startsWith(outer.endsWith('/') ? outer : `${outer}/`);
}
