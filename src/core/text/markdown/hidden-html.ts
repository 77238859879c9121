/** Elements in whose text a forge detects no mention, or which it does not show. */
const HIDING = new Set(
  [
    'a',
    'blockquote',
    'code',
    'iframe',
    'noembed',
    'noframes',
    'plaintext',
    'pre',
    'samp',
    'script',
    'style',
    'template',
    'textarea',
  ].concat(['title', 'tt', 'xmp']),
)

/** The hiding elements that are open, outermost first. */
export type OpenElements = string[]

/**
 * Returns a piece of HTML with blanks for comments, tags, and the text of elements that hide it, in linear
 * time. `open` is changed by its tags: between two pieces of a Markdown text is what they enclose.
 */
export function hideHtml(html: string, open: OpenElements): string {
  let shown = ''
  let at = 0
  while (at < html.length) {
    const next = html.indexOf('<', at)
    const text = html.slice(at, next < 0 ? html.length : next)
    shown += open.length > 0 ? blank(text) : text
    if (next < 0) break
    const end = markupEnd(html, next)
    if (end > next + 1) countTag(html.slice(next, end), open)
    shown += end > next + 1 ? blank(html.slice(next, end)) : html.slice(next, end)
    at = end
  }
  return shown
}

const blank = (text: string) => text.replace(/[^\n]/g, ' ')

/**
 * Returns the end of the comment, instruction or tag at `from`; what does not end hides the rest. Any other
 * `<` is text.
 */
function markupEnd(html: string, from: number): number {
  if (html.startsWith('<!--', from)) return endAfter(html, '-->', from + 4)
  if (html.startsWith('<![CDATA[', from)) return endAfter(html, ']]>', from)
  if (html.startsWith('<?', from)) return endAfter(html, '?>', from)
  if (html.startsWith('<!', from)) return endAfter(html, '>', from)
  return /^<\/?[a-z]/i.test(html.slice(from, from + 3)) ? tagEnd(html, from) : from + 1
}

function endAfter(html: string, mark: string, from: number): number {
  const at = html.indexOf(mark, from)
  return at < 0 ? html.length : at + mark.length
}

/** A `>` in a quoted attribute does not end the tag. */
function tagEnd(html: string, from: number): number {
  let quote = ''
  for (let at = from; at < html.length; at++) {
    const char = html.charAt(at)
    if (quote !== '') {
      if (char === quote) quote = ''
    } else if (char === '"' || char === "'") quote = char
    else if (char === '>') return at + 1
  }
  return html.length
}

function countTag(tag: string, open: OpenElements): void {
  const [, slash, name = ''] = /^<(\/?)([a-z][a-z0-9-]{0,20})/i.exec(tag) ?? []
  const element = name.toLowerCase()
  if (!HIDING.has(element)) return
  if (slash === '') open.push(element)
  else if (open.includes(element)) open.length = open.lastIndexOf(element)
}
