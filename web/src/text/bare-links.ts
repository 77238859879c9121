/** The parts of a text, in order: its addresses that begin with http:// or https:// are links. */
export function bareLinks(text: string): { text: string; link: boolean }[] {
  const parts: { text: string; link: boolean }[] = []
  let end = 0
  for (const { 0: found, index } of text.matchAll(/\bhttps?:\/\/[^\s<>]+/g)) {
    const address = withoutPunctuation(found)
    if (/^https?:\/\/$/.test(address)) continue
    if (index > end) parts.push({ text: text.slice(end, index), link: false })
    parts.push({ text: address, link: true })
    end = index + address.length
  }
  if (end < text.length) parts.push({ text: text.slice(end), link: false })
  return parts
}

/**
 * The address without what ends the sentence around it, and without the closing parenthesis of one that was
 * opened before it.
 */
function withoutPunctuation(address: string): string {
  const opened = address.includes('(')
  let length = address.length
  while (
    /[.,:;!?'"*_~\])]/.test(address.charAt(length - 1)) &&
    !(opened && address.charAt(length - 1) === ')')
  )
    length--
  return address.slice(0, length)
}
