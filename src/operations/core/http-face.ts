/** Left out of a face on purpose, with the reason that its users are given. */
export interface NoFace {
  readonly none: string;
}

export interface HttpFace {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below `/api/v1`, with `{name}` for a path parameter, which is an input field of that name. */
  readonly path: `/${string}`;
  /** Fields that a method with a body takes from the query all the same. */
  readonly query?: readonly string[];
  /** Fields that this face does not take; sending one is an unknown field. */
  readonly omit?: readonly string[];
  /** Fields of the path that the body may have too, with the same value. */
  readonly repeats?: readonly string[];
  /** Further statuses of success, which single answers have: see `Reply`. */
  readonly otherStatuses?: readonly number[];
}

/** The input fields in a path. */
export function pathFields({ path }: HttpFace): string[] {
  return [...path.matchAll(/\{([a-z_]+)\}/g)].map((match) => match[1] ?? '');
}

/** Where a request has an input field: in this place only. */
export function placeOf(http: HttpFace, field: string): 'path' | 'query' | 'body' {
  if (pathFields(http).includes(field)) return 'path';
  return http.method === 'GET' || http.query?.includes(field) === true ? 'query' : 'body';
}

export function isNone(face: object): face is NoFace {
  return 'none' in face;
}
