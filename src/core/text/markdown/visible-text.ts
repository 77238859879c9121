import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table'
import { gfmTable } from 'micromark-extension-gfm-table'
import { hideHtml, type OpenElements } from './hidden-html.ts'

type Root = ReturnType<typeof fromMarkdown>
type Nodes = Root | Root['children'][number]

/**
 * Code, and texts in which a forge detects no mention: links, what an image is called, and definitions of
 * links.
 */
const HIDDEN = new Set<Nodes['type']>([
  'code',
  'definition',
  'image',
  'imageReference',
  'inlineCode',
  'link',
  'linkReference',
])

/** A forge reads what looks like the definition of a link as a footnote. */
const isHidden = (node: Nodes) =>
  HIDDEN.has(node.type) && !(node.type === 'definition' && node.label?.startsWith('^'))

/** Forges turn addresses into links. */
const ADDRESS = /\b(?:https?:\/\/|www\.)\S+/gi

type Range = { from: number; to: number }

/**
 * Returns a Markdown text with blanks for what addresses nobody: quotations, code, comments, tags and links.
 * The length and the lines stay. The parser takes quadratic time for some texts, so call it where that delays
 * nobody.
 */
export function visibleText(markdown: string): string {
  const root = fromMarkdown(markdown, { extensions: [gfmTable()], mdastExtensions: [gfmTableFromMarkdown()] })
  const open: OpenElements = []
  const quotations: Range[] = []
  let visible = ''
  const append = (to: number, hidden: boolean) => {
    const text = markdown.slice(visible.length, to)
    visible += hidden || open.length > 0 ? blank(text) : text
  }
  // Not recursive: the author of the text chooses the depth.
  const pending: Nodes[] = [root]
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    const range = rangeOf(node)
    if (node.type === 'blockquote' && range.from >= (quotations.at(-1)?.to ?? 0)) quotations.push(range)
    if (node.type === 'html' || isHidden(node)) {
      append(range.from, false)
      if (node.type === 'html') visible += hideHtml(markdown.slice(visible.length, range.to), open)
      else append(range.to, true)
    } else if ('children' in node) pending.push(...node.children.toReversed())
  }
  append(markdown.length, false)
  return withoutQuotations(visible, quotations).replace(ADDRESS, blank)
}

const blank = (text: string) => text.replace(/[^\n]/g, ' ')

const rangeOf = ({ position }: Nodes): Range => ({
  from: position?.start.offset ?? 0,
  to: position?.end.offset ?? 0,
})

/**
 * A line without the mark of a quotation may continue it. People who reply below one without a blank line
 * mean it as their own.
 */
function withoutQuotations(text: string, quotations: Range[]): string {
  let result = ''
  for (const { from, to } of quotations) {
    const quoted = text.slice(from, to).split('\n')
    const own = quoted.map(line => (/^[ \t\r]*>/.test(line) ? blank(line) : line))
    result += text.slice(result.length, from) + own.join('\n')
  }
  return result + text.slice(result.length)
}
