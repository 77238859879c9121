import { useQuery } from '@tanstack/react-query'
import { Link, useLocation } from '@tanstack/react-router'
import { ArrowLeft } from 'lucide-react'
import { useRef, useState } from 'react'
import { type ApiDocument, apiDocumentQuery } from '../api/api-document.ts'
import { Brand } from '../components/brand.tsx'
import { PageProblem } from '../components/page-problem.tsx'
import { OperationView } from '../components/reference/operation-view.tsx'
import { Overview } from '../components/reference/overview.tsx'
import { ReferenceNav } from '../components/reference/reference-nav.tsx'
import { ThemeButton } from '../components/theme-button.tsx'
import { chaptersOf } from '../reference/chapters.ts'
import { buttonStyle } from '../ui/button.tsx'
import { useMedia } from '../ui/media.ts'
import { Loading, Notice } from '../ui/notice.tsx'
import { useSingleKeys } from '../ui/single-keys.ts'

/**
 * The public API reference. It shows the service's own OpenAPI document and needs no session. `#operationId`
 * opens one operation.
 */
export function ApiReferencePage() {
  const chosen = useLocation({ select: location => location.hash })
  const query = useQuery(apiDocumentQuery)
  const version = query.data?.info.version
  return (
    <div className="flex h-dvh flex-col">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-surface focus:p-2"
      >
        Skip to content
      </a>
      <header className="flex h-11 shrink-0 items-center gap-1 border-line border-b bg-surface px-3">
        {/* Not preloaded: without a sign-in there is no session. */}
        <Link to="/" preload={false} className={buttonStyle('quiet', 'mr-1')}>
          <ArrowLeft aria-hidden className="size-4" /> <Brand /> Runs
        </Link>
        <Link
          to="/docs"
          hash=""
          activeOptions={{ includeHash: true }}
          className="truncate rounded-md font-semibold text-base"
        >
          API reference
        </Link>
        {version && <span className="ml-1 text-faint text-xs">{version}</span>}
        <div className="flex-1" />
        {/* A page of the service itself, not of this application. */}
        <a href="/docs/errors" className={buttonStyle('quiet', 'max-sm:hidden')}>
          Errors
        </a>
        <a href="/openapi.json" className={buttonStyle('quiet', 'max-sm:hidden')}>
          openapi.json
        </a>
        <ThemeButton />
      </header>
      {query.isPending && <Loading label="Loading the reference" />}
      {query.isError && <PageProblem error={query.error} retry={() => query.refetch()} what="reference" />}
      {query.data && <Reference document={query.data} chosen={chosen} />}
    </div>
  )
}

function Reference({ document, chosen }: { document: ApiDocument; chosen: string }) {
  const chapters = chaptersOf(document)
  const entry = chapters.flatMap(chapter => chapter.entries).find(({ id }) => id === chosen)
  const wide = useMedia('(min-width: 48rem)')
  const box = useRef<HTMLInputElement>(null)
  const [listed, setListed] = useState<string | null>(null)
  useSingleKeys(key => (key === '/' && box.current ? () => box.current?.focus() : undefined))
  const nav = <ReferenceNav chapters={chapters} box={box} />
  return (
    <div className="flex min-h-0 flex-1">
      <title>{`${entry ? `${entry.operation.summary} · ` : ''}API reference · Agent runs`}</title>
      {wide && <div className="w-76 shrink-0 overflow-y-auto border-line border-r bg-canvas">{nav}</div>}
      {/* Another operation is another page, which starts at its top. */}
      <main
        key={chosen}
        id="main"
        tabIndex={-1}
        className="min-w-0 flex-1 overflow-y-auto focus:outline-none"
      >
        {!wide && (
          // The list stays open until an operation is chosen.
          <details
            open={listed === chosen}
            onToggle={event => setListed(event.currentTarget.open ? chosen : null)}
            className="border-line border-b bg-surface"
          >
            <summary className="px-4 py-2 font-medium text-accent">All operations</summary>
            {listed === chosen && nav}
          </details>
        )}
        <div className="mx-auto max-w-4xl px-4 py-6 pb-16">
          {chosen !== '' && chosen !== 'main' && !entry && (
            <Notice tone="warn">There is no operation called {chosen}.</Notice>
          )}
          {entry ? (
            <OperationView document={document} entry={entry} />
          ) : (
            <Overview document={document} chapters={chapters} />
          )}
        </div>
      </main>
    </div>
  )
}
