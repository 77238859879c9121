import { Link } from '@tanstack/react-router'
import { FileX } from 'lucide-react'
import { statusOf } from '../../../api/api-error.ts'
import { visible } from '../../../text/visible.ts'
import { buttonStyle } from '../../../ui/button.tsx'
import { Blank } from '../../../ui/notice.tsx'
import { PageProblem } from '../../page-problem.tsx'

type Props = { error: Error; retry: () => void; what: 'folder' | 'file'; latest: boolean }

const titles: Record<number, Record<Props['what'], string>> = {
  400: { folder: 'No files', file: 'No file' },
  404: { folder: 'No files', file: 'No file' },
  409: { folder: 'The files are not kept', file: 'The file is not kept' },
}

/** Why files cannot be shown. `latest`: they are the newest ones, so that these are no way out. */
export function FilesProblem({ error, retry, what, latest }: Props) {
  const title = titles[statusOf(error) ?? 0]?.[what]
  if (title === undefined) return <PageProblem error={error} retry={retry} what={what} />
  return (
    <Blank icon={<FileX />} title={title}>
      <p className="mb-4">{visible(error.message)}</p>
      {!latest && <LatestLink />}
    </Blank>
  )
}

/** Leads to the newest files: the address then names no entry. */
export const LatestLink = () => (
  <Link to="." search={previous => previous} hash="" className={buttonStyle('plain', 'h-6! text-xs!')}>
    Show the latest
  </Link>
)
