declare const value: unique symbol;

/**
 * The JSON text of a `T`, as a column of the store has it. Its type says what was written, so a reader needs no cast.
 * JSON that comes from outside (bodies, files, messages of children) is no such text: it is checked where it is read.
 */
export type Json<T> = string & { readonly [value]: T };

/** The text to store for a value, which has to be plain data: what JSON leaves out is not read again. */
export function toJson<T>(plain: T): Json<T> {
  return JSON.stringify(plain) as Json<T>;
}

/** What was written with `toJson`. Throws `SyntaxError` if the text is no JSON; its form is not checked. */
export function fromJson<T>(text: Json<T>): T {
  return JSON.parse(text) as T;
}
