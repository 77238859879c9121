import { Link } from '@tanstack/react-router'
import type { ApiDocument } from '../../api/api-document.ts'
import type { Chapter } from '../../reference/chapters.ts'
import { Markdown } from '../markdown.tsx'
import { MethodMark } from './method-mark.tsx'

/** What the reference begins with: how the API works, and every operation by chapter. */
export function Overview({ document, chapters }: { document: ApiDocument; chapters: Chapter[] }) {
  return (
    <>
      <h1 className="mb-3 font-semibold text-xl tracking-tight">{document.info.title}</h1>
      <Markdown text={document.info.description} />
      {chapters.map(({ name, description, entries }) => (
        <section key={name} className="mt-6" aria-label={`Operations of ${name}`}>
          <h2 className="font-semibold text-base first-letter:uppercase">{name}</h2>
          <p className="mb-2 text-muted text-xs">{description}</p>
          <ul className="divide-y divide-line rounded-md border border-line bg-surface">
            {entries.map(({ id, method, path, operation }) => (
              <li key={id}>
                <Link
                  to="/docs"
                  hash={id}
                  activeOptions={{ includeHash: true }}
                  className="flex flex-wrap items-baseline gap-x-1 px-3 py-1.5 hover:bg-hover"
                >
                  <MethodMark method={method} />
                  <code className="font-mono text-xs [overflow-wrap:anywhere]">{path}</code>
                  <span className="ml-auto text-muted text-xs">{operation.summary}</span>
                </Link>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  )
}
