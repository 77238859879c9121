/**
 * The address when it is an absolute http(s) URL without credentials, else null: nothing else may become a
 * link.
 */
export function httpLink(text: string | null | undefined): string | null {
  if (!text || /[\s\u0000-\u001f]/.test(text)) return null
  const url = URL.parse(text)
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return null
  return url.username || url.password ? null : url.href
}
