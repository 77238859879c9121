/** A short digest of a patch: a viewed mark is valid for exactly this change. FNV-1a, not for security. */
export function digestOf(patch: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < patch.length; at++) hash = Math.imul(hash ^ patch.charCodeAt(at), 0x01000193)
  return `${patch.length}-${(hash >>> 0).toString(36)}`
}
