import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import type { Result } from '../../../../src/contract/calls.ts'
import { call } from '../../api/client.ts'
import { meQuery } from '../../api/queries.ts'
import { ConfirmDialog } from '../../components/form/confirm-dialog.tsx'
import { PageTitle } from '../../components/page.tsx'
import { PageProblem } from '../../components/page-problem.tsx'
import { useRepositoryReason } from '../../components/permission.ts'
import { moment } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Blank, Forbidden, Loading } from '../../ui/notice.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { notify } from '../../ui/toast.ts'
import { secretsQuery } from './repository-queries.ts'
import { SecretForm } from './secret-form.tsx'
import { useRepository } from './use-repository.ts'

type Secret = Result<'listRepositorySecrets'>['items'][number]

/** The secrets of a repository: their names, never their values. */
export function RepositorySecrets() {
  const { id, full_name } = useRepository()
  const forbidden = useRepositoryReason()
  const known = useQuery(meQuery).isSuccess
  const secrets = useQuery({ ...secretsQuery(id), enabled: known && forbidden === null })
  const items = secrets.data?.items
  const [replaced, setReplaced] = useState<string | null>(null)
  return (
    <>
      <PageTitle>{`Secrets · ${full_name}`}</PageTitle>
      {forbidden !== null && <Forbidden>{forbidden}.</Forbidden>}
      {forbidden === null && secrets.isPending && <Loading label="Loading the secrets" />}
      {secrets.isError && <PageProblem error={secrets.error} retry={() => secrets.refetch()} what="list" />}
      {forbidden === null && items && (
        <div className="max-w-4xl space-y-8">
          {items.length === 0 ? (
            <Blank icon={<KeyRound />} title="No secrets yet">
              Setup commands get a secret as an environment variable, and agents and checks only if you permit
              it.
            </Blank>
          ) : (
            <SecretTable repo_id={id} items={items} on_replace={setReplaced} />
          )}
          <section aria-labelledby="set-secret" className="max-w-xl">
            <h2 id="set-secret" className="mb-4 font-semibold">
              {replaced === null ? 'Add a secret' : `Replace the value of ${replaced}`}
            </h2>
            <SecretForm
              key={replaced}
              repo_id={id}
              items={items}
              replaced={replaced}
              on_done={() => setReplaced(null)}
            />
          </section>
        </div>
      )}
    </>
  )
}

type TableProps = { repo_id: number; items: Secret[]; on_replace: (name: string) => void }

function SecretTable({ repo_id, items, on_replace }: TableProps) {
  const queries = useQueryClient()
  const [leaving, setLeaving] = useState<string | null>(null)
  const remove = useMutation({
    mutationFn: () => call('deleteRepositorySecret', { params: { repo_id, name: leaving ?? '' } }),
    onSuccess: async ({ name }) => {
      await queries.invalidateQueries({ queryKey: secretsQuery(repo_id).queryKey })
      setLeaving(null)
      notify(`Deleted ${name}`)
    },
  })
  const columns: Column<Secret>[] = [
    {
      name: 'Name',
      main: true,
      cell: ({ name }) => <code className="font-mono text-xs [overflow-wrap:anywhere]">{visible(name)}</code>,
    },
    {
      name: 'Who receives it',
      wide_only: true,
      cell: ({ name, for_agent }) => (
        <Badge tone={for_agent ? 'warn' : 'neutral'}>{receiversOf(name, for_agent)}</Badge>
      ),
    },
    {
      name: 'Last set',
      wide_only: true,
      cell: ({ updated_at }) => (
        <time dateTime={updated_at} className="text-muted">
          {moment(updated_at)}
        </time>
      ),
    },
    {
      name: '',
      cell: ({ name }) => (
        <span className="flex justify-end gap-1">
          <Button variant="quiet" aria-label={`Replace ${name}`} onClick={() => on_replace(name)}>
            Replace
          </Button>
          <Button variant="danger" aria-label={`Delete ${name}`} onClick={() => setLeaving(name)}>
            Delete
          </Button>
        </span>
      ),
    },
  ]
  return (
    <>
      <Table label="Secrets" columns={columns} rows={items} row_key={({ name }) => name} />
      <ConfirmDialog
        title="Delete secret"
        action="Delete secret"
        request={remove}
        open={leaving !== null}
        on_close={() => setLeaving(null)}
      >
        Runs no longer get <code className="font-mono text-ink">{leaving}</code> from their next turn on. Its
        value cannot be restored.
      </ConfirmDialog>
    </>
  )
}

function receiversOf(name: string, for_agent: boolean): string {
  if (name === 'GIT_TOKEN' || name === 'GIT_USERNAME') return "The service's git only"
  if (name.startsWith('AGENTRUN_MCP_CREDENTIAL_')) return 'An MCP server'
  return for_agent ? 'Setup, agents and checks' : 'Setup commands'
}
