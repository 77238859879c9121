import { useQuery } from '@tanstack/react-query'
import { call } from '../../api/client.ts'
import { ApiForm, SelectField, SwitchField, TextAreaField, TextField } from '../form/api-form.tsx'
import { type FormState, useForm } from '../form/use-form.ts'
import { AddressFields } from './address-fields.tsx'
import { draftOf, type McpServer, missingIn, requestOf, type ServerDraft } from './server-draft.ts'
import { serversQuery } from './servers-query.ts'

type FormProps = { repo_id: number | null; server: McpServer | null; on_done: () => void }

/** Adds a server, with a name that no other one has, or changes one. */
export function ServerForm({ repo_id, server, on_done }: FormProps) {
  const others = useQuery(serversQuery(repo_id)).data ?? []
  const has_credential = server?.has_credential ?? false
  const { draft, set, field, props } = useForm({
    saved: draftOf(server),
    send: edited => {
      const [name, body] = [edited.name.trim(), requestOf(edited)]
      return repo_id === null
        ? call('setMcpServer', { params: { server: name }, body })
        : call('setRepositoryMcpServer', { params: { repo_id, server: name }, body })
    },
    wire: {
      name: ['path.server'],
      client_id: ['oauth.client_id', 'sign_in.client_id'],
      issuer: ['oauth.issuer', 'sign_in.issuer'],
      scope: ['oauth.scope', 'sign_in.scope'],
    },
    refresh: [serversQuery(repo_id)],
    done: ({ name }) => `${name} was saved`,
    on_done,
  })
  const is_taken = server === null && others.some(({ name }) => name === draft.name.trim())
  const part = { draft, set, field }
  return (
    <ApiForm
      {...props}
      label="MCP server"
      missing={is_taken ? 'There is a server of this name: edit that one' : missingIn(draft, has_credential)}
      submit="Save server"
    >
      {server === null && (
        <TextField
          {...field('name')}
          label="Name"
          hint="Lower-case letters, digits and hyphens. The names of its tools begin with it."
          placeholder="tickets"
          mono
        />
      )}
      <SelectField
        {...field('kind')}
        label="Kind"
        hint={hints[draft.kind]}
        options={[
          ['program', 'Program'],
          ['address', 'Address'],
        ]}
      />
      {draft.kind === 'program' ? (
        <ProgramFields {...part} />
      ) : (
        <AddressFields {...part} has_credential={has_credential} />
      )}
      <TextAreaField
        {...field('tools')}
        label="Tools"
        hint="Names of the tools that agents get, one in each line. Empty: all, up to 64."
        rows={3}
        code
      />
      <TextField
        {...field('timeout_seconds')}
        label="Timeout in seconds"
        hint="Of its start, and of each call."
      />
      <SwitchField {...field('enabled')} label="Enabled: runs use it" />
    </ApiForm>
  )
}

const hints: Record<ServerDraft['kind'], string> = {
  program: 'It runs inside the sandbox of each run and speaks over its standard streams.',
  address: 'The service calls it with Streamable HTTP. The network rules of the run must allow its host.',
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of a configuration
const REFERENCE = '${NAME} is replaced by a secret that agents receive.'

const ProgramFields = ({ field }: FormState<ServerDraft>) => (
  <>
    <TextField {...field('command')} label="Program" placeholder="npx" mono />
    <TextAreaField
      {...field('args')}
      label="Arguments"
      hint={`One in each line. ${REFERENCE}`}
      rows={3}
      code
    />
    <TextAreaField
      {...field('environment')}
      label="Variables"
      hint={`NAME=value, one in each line. ${REFERENCE}`}
      rows={3}
      code
    />
  </>
)
