import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { AdminOnly } from '../../../components/admin-only.tsx'
import { Page } from '../../../components/page.tsx'
import { NothingMatches, PagedList, totalNote } from '../../../components/paged-list.tsx'
import type { AuditSearch } from '../../../search-params.ts'
import { ago, moment } from '../../../text/format.ts'
import { visible } from '../../../text/visible.ts'
import { Button } from '../../../ui/button.tsx'
import { useNow } from '../../../ui/now.ts'
import { type Column, Table } from '../../../ui/table.tsx'
import { usePersonNames } from '../people.ts'
import { AuditEntryDialog } from './audit-entry.tsx'
import { AuditFilters } from './audit-filters.tsx'
import { type AuditEntry, auditQuery } from './audit-query.ts'
import { detailText } from './detail-text.ts'

/** Who changed what in the organization, newest first. */
export const AuditLogPage = () => (
  <AdminOnly heading="Audit log" what="the audit log">
    <AuditLog />
  </AdminOnly>
)

function AuditLog() {
  const search = useSearch({ from: '/app/settings/audit-log' })
  const navigate = useNavigate({ from: '/settings/audit-log' })
  const change = (next: AuditSearch) => navigate({ search: { ...search, ...next }, replace: true })
  const entries = useInfiniteQuery(auditQuery(search))
  const nameOf = usePersonNames()
  const now = useNow(true, 60_000)
  const [shown, setShown] = useState<AuditEntry | null>(null)
  const actions: Column<AuditEntry> = {
    name: '',
    cell: entry => (
      <Button
        variant="quiet"
        aria-label={`Details of ${entry.action}, entry ${entry.id}`}
        onClick={() => setShown(entry)}
      >
        Details
      </Button>
    ),
  }
  return (
    <Page
      heading="Audit log"
      note={totalNote(entries)}
      about="Every administrative act, recorded together with what it changed. Entries cannot be changed or deleted."
    >
      <AuditFilters search={search} change={change} />
      <PagedList
        list={entries}
        nouns={['entry', 'entries']}
        empty={<NothingMatches what="entry" link={{ to: '/settings/audit-log' }} />}
      >
        {items => (
          <Table
            label="Audit log"
            columns={[...columns(nameOf, now), actions]}
            rows={items}
            row_key={({ id }) => id}
          />
        )}
      </PagedList>
      {shown && <AuditEntryDialog entry={shown} name_of={nameOf} on_close={() => setShown(null)} />}
    </Page>
  )
}

/** A longer change, for example of rules, is in the details. */
const MAX_DETAIL_CHARS = 160

const columns = (nameOf: (user_id: number) => string, now: number): Column<AuditEntry>[] => [
  {
    name: 'When',
    cell: ({ created_at }) => (
      <time dateTime={created_at} title={moment(created_at)} className="text-muted">
        {ago(created_at, now)}
      </time>
    ),
  },
  {
    name: 'Who',
    wide_only: true,
    cell: ({ user_id }) => whoOf(user_id, nameOf),
  },
  {
    name: 'Action',
    cell: ({ action, user_id }) => (
      <>
        <code className="font-mono text-xs [overflow-wrap:anywhere] max-md:whitespace-normal">
          {visible(action)
            .split(/(?<=[._])/)
            .map(part => [part, <wbr key={part} className="md:hidden" />])}
        </code>
        <span className="block truncate text-muted text-xs md:hidden">{whoOf(user_id, nameOf)}</span>
      </>
    ),
  },
  {
    name: 'What',
    main: true,
    wide_only: true,
    cell: ({ target_type, target_id, detail }) => (
      <span className="[overflow-wrap:anywhere]">
        {visible(target_type.replaceAll('_', ' '))} {target_id !== null && visible(target_id)}
        <span className="block text-faint text-xs">{visible(shortened(detailText(detail)))}</span>
      </span>
    ),
  },
]

const whoOf = (user_id: number | null, nameOf: (user_id: number) => string) =>
  user_id === null ? 'Operator or service' : nameOf(user_id)

const shortened = (text: string) =>
  text.length > MAX_DETAIL_CHARS ? `${text.slice(0, MAX_DETAIL_CHARS)}…` : text
