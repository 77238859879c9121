import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { JsonView } from '../../../components/entries/json-view.tsx'
import { Facts } from '../../../components/facts.tsx'
import { moment } from '../../../text/format.ts'
import { visible } from '../../../text/visible.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import type { AuditEntry } from './audit-query.ts'

type Props = { entry: AuditEntry; name_of: (user_id: number) => string; on_close: () => void }

/** Everything that is recorded of one act. */
export const AuditEntryDialog = ({ entry, name_of, on_close }: Props) => (
  <Dialog title={visible(entry.action)} on_close={on_close}>
    <Details entry={entry} name_of={name_of} />
  </Dialog>
)

function Details({ entry, name_of }: Omit<Props, 'on_close'>) {
  const { created_at, user_id, token_id, target_type, target_id, request_id, detail } = entry
  const facts: [string, ReactNode][] = [
    ['When', moment(created_at)],
    ['Who', user_id === null ? 'The operator, or the service itself' : name_of(user_id)],
    ['Token', token_id],
    ['Target', <Target key="target" type={target_type} id={target_id} />],
    ['Request', request_id && <code key="request">{visible(request_id)}</code>],
  ]
  return (
    <div className="space-y-4">
      <Facts facts={facts} />
      {Object.keys(detail).length > 0 && <JsonView title="Detail" value={detail} whole />}
    </div>
  )
}

function Target({ type, id }: { type: string; id: string | null }) {
  const text = `${type.replaceAll('_', ' ')} ${id ?? ''}`
  const style = 'text-accent underline'
  if (id === null || !/^\d+$/.test(id)) return visible(text)
  if (type === 'run')
    return (
      <Link to="/agent/trace/$id" params={{ id }} className={style}>
        {text}
      </Link>
    )
  if (type === 'repository')
    return (
      <Link to="/repositories/$repoId" params={{ repoId: id }} className={style}>
        {text}
      </Link>
    )
  return type === 'pull_request' ? (
    <Link to="/pull-requests/$prId" params={{ prId: id }} className={style}>
      {text}
    </Link>
  ) : (
    visible(text)
  )
}
