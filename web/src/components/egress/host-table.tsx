import { useMutation } from '@tanstack/react-query'
import { visible } from '../../text/visible.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { notify } from '../../ui/toast.ts'
import { type EgressTarget, keyOf, type Rule } from './egress-target.ts'

type Row = { rule: Rule; own: boolean }

/** The hosts that a repository and its organization allow. Those of the organization are changed there. */
export function HostTable({ target: { saved, inherited, forbidden, set } }: { target: EgressTarget }) {
  const { agent, setup } = saved
  const remove = useMutation({
    mutationFn: (rule: Rule) =>
      set({ agent: { ...agent, allow: agent.allow.filter(other => keyOf(other) !== keyOf(rule)) }, setup }),
    onSuccess: (_, { host }) => notify(`Removed ${host}`),
  })
  const rows: Row[] = [
    ...agent.allow.map(rule => ({ rule, own: true })),
    ...(inherited?.agent.allow ?? []).map(rule => ({ rule, own: false })),
  ]
  const columns: Column<Row>[] = [
    {
      name: 'Host',
      main: true,
      cell: ({ rule }) => <code className="font-mono text-xs">{visible(rule.host)}</code>,
    },
    { name: 'Port', cell: ({ rule }) => rule.port ?? '443 and 80' },
    {
      name: 'Methods',
      wide_only: true,
      cell: ({ rule }) => rule.methods?.join(', ') ?? <span className="text-faint">all</span>,
    },
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
  if (rows.length === 0)
    return <p className="text-faint">No host is allowed, except those of the registries above.</p>
  return (
    <div className="space-y-3">
      <Table label="Hosts" columns={columns} rows={rows} row_key={row => `${row.own} ${keyOf(row.rule)}`} />
      {remove.error && <Notice tone="bad">{visible(remove.error.message)}</Notice>}
    </div>
  )
}
