import { gfmTableFromMarkdown } from 'mdast-util-gfm-table'
import { gfmTaskListItemFromMarkdown } from 'mdast-util-gfm-task-list-item'
import { gfmTable } from 'micromark-extension-gfm-table'
import { gfmTaskListItem } from 'micromark-extension-gfm-task-list-item'
import ReactMarkdown, { type Components, type Options } from 'react-markdown'
import { bareLinks } from '../text/bare-links.ts'
import { httpLink } from '../text/links.ts'
import { visible } from '../text/visible.ts'

const components: Components = {
  a: ({ href, children }) =>
    href ? (
      <a href={href} target="_blank" rel="noopener noreferrer">
        {children}
      </a>
    ) : (
      <span>{children}</span>
    ),
  img: ({ alt, src }) => <span className="text-faint">[picture: {alt || String(src ?? '')}]</span>,
  table: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard
    <div className="overflow-x-auto" tabIndex={0} role="group" aria-label="Table">
      <table>{children}</table>
    </div>
  ),
  input: ({ checked }) => (
    <input
      type="checkbox"
      checked={checked === true}
      disabled
      aria-label={checked === true ? 'done' : 'open'}
    />
  ),
}

type Plugin = NonNullable<Options['remarkPlugins']>[number]

/** Tables and task lists of GitHub. Its strikethrough and footnotes take quadratic time for hostile text. */
const tablesAndTaskLists: Plugin = function (this: { data(): object }) {
  const data: { micromarkExtensions?: unknown[]; fromMarkdownExtensions?: unknown[] } = this.data()
  data.micromarkExtensions = [...(data.micromarkExtensions ?? []), gfmTable(), gfmTaskListItem()]
  data.fromMarkdownExtensions = [
    ...(data.fromMarkdownExtensions ?? []),
    gfmTableFromMarkdown(),
    gfmTaskListItemFromMarkdown(),
  ]
}

type MarkdownNode = { type: string; value?: string; url?: string; children?: MarkdownNode[] }

/**
 * Addresses in the text are links, as on GitHub, whose parser of them takes quadratic time for hostile text.
 */
const linkAddresses: Plugin = () => tree => {
  const open: MarkdownNode[] = [tree]
  for (let node = open.pop(); node; node = open.pop()) {
    if (node.type === 'link' || node.type === 'linkReference' || !node.children) continue
    node.children = node.children.flatMap(child => (child.type === 'text' ? linked(child) : child))
    open.push(...node.children)
  }
}

const linked = (node: MarkdownNode): MarkdownNode[] =>
  bareLinks(node.value ?? '').map(({ text, link }) => {
    const plain = { type: 'text', value: text }
    return link ? { type: 'link', url: text, children: [plain] } : plain
  })

const plugins = [tablesAndTaskLists, linkAddresses]

export default function MarkdownRendered({ text }: { text: string }) {
  return (
    <div className="prose">
      <ReactMarkdown
        components={components}
        remarkPlugins={plugins}
        skipHtml={false}
        urlTransform={url => httpLink(url)}
      >
        {visible(text)}
      </ReactMarkdown>
    </div>
  )
}
