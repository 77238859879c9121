import ReactMarkdown, { type Components } from 'react-markdown'
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
}

export default function MarkdownRendered({ text }: { text: string }) {
  return (
    <div className="prose">
      <ReactMarkdown components={components} skipHtml={false} urlTransform={url => httpLink(url)}>
        {visible(text)}
      </ReactMarkdown>
    </div>
  )
}
