/** A target that no route has: a request line cannot hold a space. */
export const NOWHERE = '/ nowhere';

/** RFC 9112 has a server take the absolute form too; the host in it means as little here as the Host header. */
const ABSOLUTE = /^https?:\/\/[^/?#]*/i;

/**
 * The target of a request without the base path. What does not lie below it, or has no place in a request target,
 * leads nowhere. Nothing is decoded or tidied up here, so what is stripped is exactly what was configured.
 */
export function strippedTarget(target: string, basePath: string): string {
  const local = target.startsWith('/') ? target : target.replace(ABSOLUTE, '');
  if (!local.startsWith('/') && local !== '' && !local.startsWith('?')) return NOWHERE;
  if (/[#\\]/.test(local) || !local.startsWith(basePath)) return NOWHERE;
  const rest = local.slice(basePath.length);
  if (rest === '' || rest.startsWith('?')) return `/${rest}`;
  return rest.startsWith('/') ? rest : NOWHERE;
}

/** Whether a stripped target belongs to the API, where every answer is an envelope. */
export function isApi(stripped: string): boolean {
  return /^\/api\/v1(?:[/?]|$)/.test(stripped);
}
