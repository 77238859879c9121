import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Result } from '../../../../src/contract/calls.ts'
import { call } from '../../api/client.ts'
import { egressQuery } from '../../api/queries.ts'
import { visible } from '../../text/visible.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { notify } from '../../ui/toast.ts'
import { useRepositoryReason } from '../permission.ts'

type Egress = Result<'getRepositoryEgress'>
type Rule = Egress['agent']['allow'][number]
type Row = { rule: Rule; own: boolean }

const keyOf = ({ host, port, methods }: Rule) => [host, port ?? '', ...(methods ?? [])].join(' ')

/** The hosts that repository and organization allow. Those of the organization are changed there. */
export function HostTable({ repo_id, own, organization }: { repo_id: number; own: Egress; organization: Egress }) {
  const queries = useQueryClient()
  const forbidden = useRepositoryReason()
  const remove = useMutation({
    mutationFn: (rule: Rule) => {
      const allow = own.agent.allow.filter(other => keyOf(other) !== keyOf(rule))
      return call('setRepositoryEgress', { params: { repo_id }, body: { agent: { ...own.agent, allow }, setup: own.setup } })
    },
    onSuccess: (set_now, { host }) => {
      queries.setQueryData(egressQuery(repo_id).queryKey, set_now)
      notify(`Removed ${host}`)
    },
  })
  const rows: Row[] = [
    ...own.agent.allow.map(rule => ({ rule, own: true })),
    ...organization.agent.allow.map(rule => ({ rule, own: false })),
  ]
  const columns: Column<Row>[] = [
    { name: 'Host', main: true, cell: ({ rule }) => <code className="font-mono text-xs">{visible(rule.host)}</code> },
    { name: 'Port', cell: ({ rule }) => rule.port ?? '443 and 80' },
    { name: 'Methods', wide_only: true, cell: ({ rule }) => rule.methods?.join(', ') ?? <span className="text-faint">all</span> },
    {
      name: '',
      cell: row =>
        row.own ? (
          <Button
            variant="quiet"
            aria-label={`Remove ${row.rule.host}`}
            reason={forbidden}
            busy={remove.isPending && remove.variables === row.rule}
            onClick={() => remove.mutate(row.rule)}
          >
            Remove
          </Button>
        ) : (
          <Badge>Organization</Badge>
        ),
    },
  ]
  if (rows.length === 0) return <p className="text-faint">No host is allowed, except those of the registries above.</p>
  return (
    <div className="space-y-3">
      <Table label="Hosts" columns={columns} rows={rows} row_key={row => `${row.own} ${keyOf(row.rule)}`} />
      {remove.error && <Notice tone="bad">{visible(remove.error.message)}</Notice>}
    </div>
  )
}
