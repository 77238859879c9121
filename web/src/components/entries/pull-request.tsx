import { Link } from '@tanstack/react-router'
import { GitPullRequest } from 'lucide-react'
import type { ReactNode } from 'react'
import { plural } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { Badge, type BadgeTone } from '../../ui/badge.tsx'
import { SafeLink } from '../safe-link.tsx'

type PullRequestFacts = {
  number: number | null
  title: string | null
  url: string | null
  head: string | null
  base: string | null
  state: string | null
  files: number | null
  additions: number | null
  deletions: number | null
}

const tones: Record<string, BadgeTone> = { open: 'ok', merged: 'accent', closed: 'bad' }

/** A pull request: title, branches, size, and the actions on it. */
export function PullRequestCard({ pr, children }: { pr: PullRequestFacts; children?: ReactNode }) {
  return (
    <div className="flex items-start gap-2.5 rounded-lg border border-line bg-surface px-3 py-2.5">
      <GitPullRequest aria-hidden className="mt-0.5 size-4 shrink-0 text-ok" />
      <div className="min-w-0 flex-1">
        <div className="flex items-start justify-between gap-2.5">
          <span className="font-medium [overflow-wrap:anywhere]">
            <SafeLink href={pr.url}>
              <bdi>{visible(pr.title ?? 'Pull request')}</bdi>{' '}
              {pr.number !== null && <bdi className="font-normal text-faint">#{pr.number}</bdi>}
            </SafeLink>
          </span>
          <Link
            to="."
            search={previous => ({ ...previous, view: 'changes' })}
            className="shrink-0 text-accent text-xs leading-6 hover:underline"
          >
            Changes
          </Link>
        </div>
        <div className="mt-0.5 flex flex-wrap items-center gap-x-3 gap-y-0.5 text-muted text-xs">
          {pr.state && <Badge tone={tones[pr.state] ?? 'neutral'}>{visible(pr.state)}</Badge>}
          {pr.head && (
            <span className="font-mono text-2xs [overflow-wrap:anywhere]">
              {visible(pr.base ?? '')} ← {visible(pr.head)}
            </span>
          )}
          {pr.files !== null && <span>{plural(pr.files, 'file')}</span>}
          {pr.additions !== null && pr.deletions !== null && (
            <span className="tabular">
              <span className="text-ok">+{pr.additions}</span>{' '}
              <span className="text-bad">−{pr.deletions}</span>
            </span>
          )}
        </div>
        {children}
      </div>
    </div>
  )
}
