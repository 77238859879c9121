import { Link } from '@tanstack/react-router'
import { Ban, CloudOff, SearchX } from 'lucide-react'
import { statusOf } from '../api/api-error.ts'
import { visible } from '../text/visible.ts'
import { Button, buttonStyle } from '../ui/button.tsx'
import { Blank, Forbidden } from '../ui/notice.tsx'

/** The error state of a page. `error` null: there is no such page. */
export function PageProblem({ error, retry, what = 'page' }: { error: unknown; retry?: () => void; what?: string }) {
  const status = statusOf(error)
  const again = <Button onClick={retry ?? (() => location.reload())}>Try again</Button>
  if (error === null || status === 404 || status === 400) {
    return (
      <Blank icon={<SearchX />} title={`There is no such ${what}`}>
        <p className="mb-4">
          {error instanceof Error ? visible(error.message) : 'The address may be wrong, or it belongs to another organization.'}
        </p>
        <Link to="/" className={buttonStyle()}>
          All runs
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
      <p className="mb-4">{message}</p>
      {again}
    </Blank>
  )
}
