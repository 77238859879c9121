import { useQuery } from '@tanstack/react-query'
import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import type { Result } from '../../../../src/contract/calls.ts'
import { call } from '../../api/client.ts'
import { meQuery } from '../../api/queries.ts'
import { ConfirmDialog } from '../../components/form/confirm-dialog.tsx'
import { PageTitle } from '../../components/page.tsx'
import { PageProblem } from '../../components/page-problem.tsx'
import { useRepositoryReason } from '../../components/permission.ts'
import { momentColumn, ResourceTable } from '../../components/resource-page.tsx'
import { visible } from '../../text/visible.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Blank, Forbidden, Loading } from '../../ui/notice.tsx'
import type { Column } from '../../ui/table.tsx'
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
              on_done={() => setReplaced(now => (now === replaced ? null : now))}
            />
          </section>
        </div>
      )}
    </>
  )
}

type TableProps = { repo_id: number; items: Secret[]; on_replace: (name: string) => void }

const SecretTable = ({ repo_id, items, on_replace }: TableProps) => (
  <ResourceTable
    label="Secrets"
    columns={columns}
    rows={items}
    name={({ name }) => name}
    actions={({ name }) => [
      <Button key="replace" variant="quiet" aria-label={`Replace ${name}`} onClick={() => on_replace(name)}>
        Replace
      </Button>,
      {
        text: 'Delete',
        variant: 'danger',
        dialog: close => (
          <ConfirmDialog
            title="Delete secret"
            action="Delete secret"
            send={() => call('deleteRepositorySecret', { params: { repo_id, name } })}
            refresh={[secretsQuery(repo_id)]}
            done={`Deleted ${name}`}
            on_close={close}
          >
            Runs no longer get <code className="font-mono text-ink">{name}</code> from their next turn on. Its
            value cannot be restored.
          </ConfirmDialog>
        ),
      },
    ]}
  />
)

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
  momentColumn('Last set', ({ updated_at }) => updated_at),
]

function receiversOf(name: string, for_agent: boolean): string {
  if (name === 'GIT_TOKEN' || name === 'GIT_USERNAME') return "The service's git only"
  if (name.startsWith('AGENTRUN_MCP_CREDENTIAL_')) return 'An MCP server'
  return for_agent ? 'Setup, agents and checks' : 'Setup commands'
}
