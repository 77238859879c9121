import { lazy, Suspense } from 'react'
import { PlainText } from './plain-text.tsx'

const Unrendered = ({ text }: { text: string }) => <PlainText text={text} className="prose" />

/** If the renderer cannot be loaded, the source text is shown. */
const Rendered = lazy(() => import('./markdown-rendered.tsx').catch(() => ({ default: Unrendered })))

/**
 * Markdown of an agent: no HTML, no pictures, http(s) links only. Plain text until the renderer is loaded.
 */
export const Markdown = ({ text }: { text: string }) => (
  <Suspense fallback={<Unrendered text={text} />}>
    <Rendered text={text} />
  </Suspense>
)
