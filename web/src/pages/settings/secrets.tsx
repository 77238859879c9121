import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { LockKeyhole, Plus } from 'lucide-react'
import { useState } from 'react'
import type { Result } from '../../../../src/contract/calls.ts'
import { allItems } from '../../api/all-items.ts'
import { fieldMessages } from '../../api/api-error.ts'
import { call } from '../../api/client.ts'
import { AdminOnly } from '../../components/admin-only.tsx'
import { ApiForm, TextField } from '../../components/form/api-form.tsx'
import { ConfirmDialog } from '../../components/form/confirm-dialog.tsx'
import { Page } from '../../components/page.tsx'
import { PageProblem } from '../../components/page-problem.tsx'
import { moment } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button, buttonStyle } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Switch, TextArea } from '../../ui/field.tsx'
import { Blank, Loading } from '../../ui/notice.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { notify } from '../../ui/toast.ts'
import { usePersonNames } from './people.ts'

type Secret = Result<'listSecrets'>['items'][number]

const secretsQuery = queryOptions({
  queryKey: ['secrets'],
  queryFn: ({ signal }) => allItems(skip => call('listSecrets', { query: { limit: 100, skip }, signal })),
})

/** The secrets of the organization: names only, because values cannot be read back. */
export const SecretsPage = () => (
  <AdminOnly heading="Secrets" what="secrets">
    <SecretList />
  </AdminOnly>
)

function SecretList() {
  const secrets = useQuery(secretsQuery)
  const nameOf = usePersonNames()
  const [editing, setEditing] = useState<Secret | 'new' | null>(null)
  const [deleting, setDeleting] = useState<Secret | null>(null)
  if (secrets.isError)
    return <PageProblem error={secrets.error} retry={() => secrets.refetch()} what="list" />
  const actions: Column<Secret> = {
    name: '',
    cell: secret =>
      isModelKey(secret) ? (
        <ToModels />
      ) : isMcpCredential(secret) ? (
        <ToMcpServers />
      ) : (
        <span className="flex justify-end gap-1 max-sm:flex-col max-sm:items-end">
          <Button variant="quiet" aria-label={`Replace ${secret.name}`} onClick={() => setEditing(secret)}>
            Replace
          </Button>
          <Button variant="quiet" aria-label={`Delete ${secret.name}`} onClick={() => setDeleting(secret)}>
            Delete
          </Button>
        </span>
      ),
  }
  return (
    <Page
      heading="Secrets"
      note={secrets.data?.length}
      about="Environment variables of the setup commands of every run, stored encrypted. Traces contain [redacted:NAME] instead of a value. A secret of a repository comes before one of the same name here."
      actions={
        <Button variant="primary" onClick={() => setEditing('new')}>
          <Plus aria-hidden className="size-4" /> Add secret
        </Button>
      }
    >
      {!secrets.data && <Loading label="Loading the secrets" />}
      {secrets.data?.length === 0 && (
        <Blank icon={<LockKeyhole />} title="No secrets yet">
          Add a key or password that runs of every repository need, such as the token of a private registry.
        </Blank>
      )}
      {secrets.data && secrets.data.length > 0 && (
        <Table
          label="Secrets"
          columns={[...columns(nameOf), actions]}
          rows={secrets.data}
          row_key={({ name }) => name}
        />
      )}
      <Dialog
        title={editing === 'new' ? 'Add secret' : `Replace ${editing?.name}`}
        open={editing !== null}
        on_close={() => setEditing(null)}
      >
        {editing && (
          <SecretForm secret={editing === 'new' ? null : editing} on_done={() => setEditing(null)} />
        )}
      </Dialog>
      {deleting && <Deletion secret={deleting} on_close={() => setDeleting(null)} />}
    </Page>
  )
}

/**
 * The service stores the keys of models and the credentials of MCP servers as secrets, which no sandbox gets.
 */
const isMcpCredential = ({ name }: Pick<Secret, 'name'>) => name.startsWith('AGENTRUN_MCP_CREDENTIAL_')
const isModelKey = ({ name }: Pick<Secret, 'name'>) => name.startsWith('AGENTRUN_MODEL_KEY_')

const ToMcpServers = () => (
  <Link to="/settings/mcp-servers" className={buttonStyle('quiet')}>
    MCP servers
  </Link>
)

const ToModels = () => (
  <Link to="/settings/models" className={buttonStyle('quiet')}>
    Models and keys
  </Link>
)

const columns = (nameOf: (user_id: number) => string): Column<Secret>[] => [
  {
    name: 'Name',
    main: true,
    cell: ({ name, for_agent }) => (
      <span className="flex flex-wrap items-center gap-2">
        <code className="font-mono text-xs [overflow-wrap:anywhere]">{visible(name)}</code>
        {for_agent && <Badge tone="warn">Visible to agents</Badge>}
        {isModelKey({ name }) && <Badge tone="neutral">Key of a model</Badge>}
        {isMcpCredential({ name }) && <Badge tone="neutral">Credential of an MCP server</Badge>}
      </span>
    ),
  },
  {
    name: 'Set by',
    wide_only: true,
    cell: ({ updated_by }) => <span className="text-muted">{nameOf(updated_by)}</span>,
  },
  {
    name: 'Set',
    wide_only: true,
    cell: ({ updated_at }) => (
      <time dateTime={updated_at} className="text-muted">
        {moment(updated_at)}
      </time>
    ),
  },
]

function SecretForm({ secret, on_done }: { secret: Secret | null; on_done: () => void }) {
  const queries = useQueryClient()
  const [name, setName] = useState(secret?.name ?? '')
  const [value, setValue] = useState('')
  const [for_agent, setForAgent] = useState(secret?.for_agent ?? false)
  const save = useMutation({
    mutationFn: () => call('setSecret', { params: { name: name.trim() }, body: { value, for_agent } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: secretsQuery.queryKey })
      notify('The secret was saved')
      on_done()
    },
  })
  const problems = fieldMessages(save.error)
  const problem_of_name = problems.name ?? problems['path.name']
  return (
    <ApiForm
      label="Secret"
      request={save}
      fields={['name', 'path.name', 'value', 'for_agent']}
      missing={name.trim() === '' ? 'Enter a name first' : value === '' ? 'Enter the value first' : null}
      submit={secret ? 'Replace secret' : 'Add secret'}
      variant="primary"
    >
      {!secret && (
        <TextField
          label="Name"
          hint="Capital letters, digits and _."
          placeholder="NPM_TOKEN"
          mono
          problem={problem_of_name}
          value={name}
          on_change={setName}
        />
      )}
      <Field label="Value" hint="It is never shown again." problem={problems.value}>
        {props => (
          <TextArea
            {...props}
            rows={3}
            spellCheck={false}
            autoComplete="off"
            className="font-mono text-xs"
            value={value}
            onChange={event => setValue(event.target.value)}
          />
        )}
      </Field>
      <Switch
        label="Visible to agents: their commands can read it, and send it where they may connect"
        checked={for_agent}
        onChange={event => setForAgent(event.target.checked)}
      />
      {problems.for_agent && <p className="text-bad text-xs">{problems.for_agent}</p>}
    </ApiForm>
  )
}

function Deletion({ secret, on_close }: { secret: Secret; on_close: () => void }) {
  const queries = useQueryClient()
  const remove = useMutation({
    mutationFn: () => call('deleteSecret', { params: { name: secret.name } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: secretsQuery.queryKey })
      notify(`${secret.name} was deleted`)
      on_close()
    },
  })
  return (
    <ConfirmDialog
      title={`Delete ${secret.name}`}
      action="Delete secret"
      request={remove}
      open
      on_close={on_close}
    >
      Its value cannot be restored. Setup commands that need it fail from the next turn on.
    </ConfirmDialog>
  )
}
