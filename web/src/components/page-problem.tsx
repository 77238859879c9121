import { Link, type LinkOptions, linkOptions, useRouter } from '@tanstack/react-router'
import { Ban, CloudOff, SearchX } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { statusOf } from '../api/api-error.ts'
import { UNREACHABLE_RETRY_MS } from '../api/queries.ts'
import { visible } from '../text/visible.ts'
import { Button, buttonStyle } from '../ui/button.tsx'
import { Blank, Forbidden } from '../ui/notice.tsx'

type Props = { error: unknown; retry?: () => void; what?: string }

const runs = { name: 'All runs', link: linkOptions({ to: '/' }) }

/** The list to continue with when what it lists does not exist. */
const lists: Record<string, { name: string; link: LinkOptions }> = {
  'pull request': { name: 'All pull requests', link: linkOptions({ to: '/pull-requests' }) },
  repository: { name: 'All repositories', link: linkOptions({ to: '/repositories' }) },
  sandbox: { name: 'All sandboxes', link: linkOptions({ to: '/sandboxes' }) },
}

/**
 * The error state of a page. `error` null: there is no such page. While the service does not respond, `retry`
 * is called until it does.
 */
export function PageProblem({ error, retry = () => location.reload(), what = 'page' }: Props) {
  const status = statusOf(error)
  const back = lists[what] ?? runs
  useRetries(status === 0, retry)
  if (error === null || status === 404 || status === 400) {
    return (
      <Blank icon={<SearchX />} title={`There is no such ${what}`} level={what === 'change' ? 2 : 1}>
        <title>{`No such ${what} · Agent runs`}</title>
        <p className="mb-4">
          {error instanceof Error
            ? visible(error.message)
            : 'The address may be wrong, or it belongs to another organization.'}
        </p>
        <Link {...back.link} className={buttonStyle()}>
          {back.name}
        </Link>
      </Blank>
    )
  }
  if (status === 403) return <Forbidden>{error instanceof Error && visible(error.message)}</Forbidden>
  const message = error instanceof Error ? visible(error.message) : 'Something unexpected happened.'
  return (
    <Blank
      icon={status === 0 ? <CloudOff /> : <Ban />}
      title={status === 0 ? 'The service does not respond' : `This ${what} could not be loaded`}
    >
      <p className="mb-4">
        {message}
        {status === 0 && ' The page continues when the service is back.'}
      </p>
      <Button onClick={retry}>Try again</Button>
    </Blank>
  )
}

/** The error state of a route that could not be opened. */
export function RouteProblem({ error, reset }: { error: unknown; reset: () => void }) {
  const router = useRouter()
  const retry = () => {
    reset()
    void router.invalidate()
  }
  return <PageProblem error={error} retry={statusOf(error) === null ? undefined : retry} />
}

function useRetries(active: boolean, retry: () => void): void {
  const latest = useRef(retry)
  latest.current = retry
  useEffect(() => {
    if (!active) return
    const again = () => latest.current()
    const timer = setInterval(again, UNREACHABLE_RETRY_MS)
    window.addEventListener('online', again)
    return () => {
      clearInterval(timer)
      window.removeEventListener('online', again)
    }
  }, [active])
}
