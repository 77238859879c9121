import { queryOptions } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { LockKeyhole } from 'lucide-react'
import type { Result } from '../../../../src/contract/calls.ts'
import { allItems } from '../../api/all-items.ts'
import { call } from '../../api/client.ts'
import { AdminOnly } from '../../components/admin-only.tsx'
import { ApiForm, SwitchField, TextAreaField, TextField } from '../../components/form/api-form.tsx'
import { ConfirmDialog } from '../../components/form/confirm-dialog.tsx'
import { useForm } from '../../components/form/use-form.ts'
import { momentColumn, ResourcePage } from '../../components/resource-page.tsx'
import { visible } from '../../text/visible.ts'
import { Badge } from '../../ui/badge.tsx'
import { buttonStyle } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Blank } from '../../ui/notice.tsx'
import type { Column } from '../../ui/table.tsx'
import { usePersonNames } from './people.ts'

type Secret = Result<'listSecrets'>['items'][number]

const secretsQuery = queryOptions({
  queryKey: ['secrets'],
  queryFn: ({ signal }) => allItems(skip => call('listSecrets', { query: { limit: 100, skip }, signal })),
})

/** The secrets of the organization: names only, because values cannot be read back. */
export const SecretsPage = () => (
  <AdminOnly heading="Secrets" what="secrets">
    <ResourcePage
      what="secrets"
      about="Environment variables of the setup commands of every run, stored encrypted. Traces contain [redacted:NAME] instead of a value. A secret of a repository comes before one of the same name here."
      query={secretsQuery}
      columns={columns}
      name={({ name }) => name}
      add={{
        text: 'Add secret',
        dialog: close => (
          <Dialog title="Add secret" on_close={close}>
            <SecretForm secret={null} on_done={close} />
          </Dialog>
        ),
      }}
      actions={actionsOf}
      stacked
      empty={
        <Blank icon={<LockKeyhole />} title="No secrets yet">
          Add a key or password that runs of every repository need, such as the token of a private registry.
        </Blank>
      }
    />
  </AdminOnly>
)

/**
 * The service stores the keys of models and the credentials of MCP servers as secrets, which no sandbox gets.
 */
const isMcpCredential = ({ name }: Secret) => name.startsWith('AGENTRUN_MCP_CREDENTIAL_')
const isModelKey = ({ name }: Secret) => name.startsWith('AGENTRUN_MODEL_KEY_')

const columns: Column<Secret>[] = [
  {
    name: 'Name',
    main: true,
    cell: secret => (
      <span className="flex flex-wrap items-center gap-2">
        <code className="font-mono text-xs [overflow-wrap:anywhere]">{visible(secret.name)}</code>
        {secret.for_agent && <Badge tone="warn">Visible to agents</Badge>}
        {isModelKey(secret) && <Badge tone="neutral">Key of a model</Badge>}
        {isMcpCredential(secret) && <Badge tone="neutral">Credential of an MCP server</Badge>}
      </span>
    ),
  },
  { name: 'Set by', wide_only: true, cell: ({ updated_by }) => <PersonName user_id={updated_by} /> },
  momentColumn('Set', ({ updated_at }) => updated_at),
]

function PersonName({ user_id }: { user_id: number }) {
  const nameOf = usePersonNames()
  return <span className="text-muted">{nameOf(user_id)}</span>
}

function actionsOf(secret: Secret) {
  const { name } = secret
  const elsewhere = isModelKey(secret)
    ? ({ to: '/settings/models', text: 'Models and keys' } as const)
    : isMcpCredential(secret) && ({ to: '/settings/mcp-servers', text: 'MCP servers' } as const)
  if (elsewhere)
    return [
      <Link key="elsewhere" to={elsewhere.to} className={buttonStyle('quiet')}>
        {elsewhere.text}
      </Link>,
    ]
  return [
    {
      text: 'Replace',
      dialog: (close: () => void) => (
        <Dialog title={`Replace ${name}`} on_close={close}>
          <SecretForm secret={secret} on_done={close} />
        </Dialog>
      ),
    },
    {
      text: 'Delete',
      dialog: (close: () => void) => (
        <ConfirmDialog
          title={`Delete ${name}`}
          action="Delete secret"
          send={() => call('deleteSecret', { params: { name } })}
          refresh={[secretsQuery]}
          done={`${name} was deleted`}
          on_close={close}
        >
          Its value cannot be restored. Setup commands that need it fail from the next turn on.
        </ConfirmDialog>
      ),
    },
  ]
}

function SecretForm({ secret, on_done }: { secret: Secret | null; on_done: () => void }) {
  const { draft, field, props } = useForm({
    saved: { name: secret?.name ?? '', value: '', for_agent: secret?.for_agent ?? false },
    send: ({ name, ...body }) => call('setSecret', { params: { name: name.trim() }, body }),
    wire: { name: ['path.name'] },
    refresh: [secretsQuery],
    done: 'The secret was saved',
    on_done,
  })
  return (
    <ApiForm
      {...props}
      label="Secret"
      missing={
        draft.name.trim() === '' ? 'Enter a name first' : draft.value === '' ? 'Enter the value first' : null
      }
      submit={secret ? 'Replace secret' : 'Add secret'}
    >
      {!secret && (
        <TextField
          {...field('name')}
          label="Name"
          hint="Capital letters, digits and _."
          placeholder="NPM_TOKEN"
          mono
        />
      )}
      <TextAreaField {...field('value')} label="Value" hint="It is never shown again." rows={3} code />
      <SwitchField
        {...field('for_agent')}
        label="Visible to agents: their commands can read it, and send it where they may connect"
      />
    </ApiForm>
  )
}
