import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldMessages } from '../../api/api-error.ts'
import { call } from '../../api/client.ts'
import { Field, Select, Switch } from '../../ui/field.tsx'
import { notify } from '../../ui/toast.ts'
import { ApiForm, TextField } from '../form/api-form.tsx'
import { AddressFields } from './address-fields.tsx'
import { type DraftFields, Lines } from './lines-field.tsx'
import { draftOf, type McpServer, missingIn, requestOf, type ServerDraft } from './server-draft.ts'
import { serversQuery } from './servers-query.ts'

type FormProps = { repo_id: number | null; server: McpServer | null; taken: string[]; on_done: () => void }

/** Adds a server, which is none of `taken`, or changes one. */
export function ServerForm({ repo_id, server, taken, on_done }: FormProps) {
  const queries = useQueryClient()
  const [draft, setDraft] = useState(() => draftOf(server))
  const set = (change: Partial<ServerDraft>) => setDraft(old => ({ ...old, ...change }))
  const save = useMutation({
    mutationFn: () => {
      const [name, body] = [draft.name.trim(), requestOf(draft)]
      return repo_id === null
        ? call('setMcpServer', { params: { server: name }, body })
        : call('setRepositoryMcpServer', { params: { repo_id, server: name }, body })
    },
    onSuccess: async saved => {
      await queries.invalidateQueries({ queryKey: serversQuery(repo_id).queryKey })
      notify(`${saved.name} was saved`)
      on_done()
    },
  })
  const problems = fieldMessages(save.error)
  const is_taken = server === null && taken.includes(draft.name.trim())
  return (
    <ApiForm
      label="MCP server"
      request={save}
      fields={[
        'path.server',
        'command',
        'args',
        'url',
        'credential',
        'sign_in.client_id',
        'sign_in.issuer',
        'sign_in.scope',
        'tools',
        'timeout_seconds',
      ]}
      missing={
        is_taken
          ? 'There is a server of this name: edit that one'
          : missingIn(draft, server?.has_credential ?? false)
      }
      submit="Save server"
      variant="primary"
    >
      {server === null && (
        <TextField
          label="Name"
          hint="Lower-case letters, digits and hyphens. The names of its tools begin with it."
          placeholder="tickets"
          mono
          problem={problems['path.server']}
          value={draft.name}
          on_change={name => set({ name })}
        />
      )}
      <Field label="Kind" hint={kinds[draft.kind].hint}>
        {props => (
          <Select
            {...props}
            value={draft.kind}
            onChange={event => set({ kind: event.target.value as ServerDraft['kind'] })}
          >
            {Object.entries(kinds).map(([kind, { label }]) => (
              <option key={kind} value={kind}>
                {label}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {draft.kind === 'program' ? (
        <ProgramFields draft={draft} set={set} problems={problems} />
      ) : (
        <AddressFields
          draft={draft}
          set={set}
          problems={problems}
          has_credential={server?.has_credential ?? false}
        />
      )}
      <Lines
        label="Tools"
        hint="Names of the tools that agents get, one in each line. Empty: all, up to 64."
        problem={problems.tools}
        value={draft.tools}
        on_change={tools => set({ tools })}
      />
      <TextField
        label="Timeout in seconds"
        hint="Of its start, and of each call."
        problem={problems.timeout_seconds}
        value={draft.timeout_seconds}
        on_change={timeout_seconds => set({ timeout_seconds })}
      />
      <Switch
        label="Enabled: runs use it"
        checked={draft.enabled}
        onChange={event => set({ enabled: event.target.checked })}
      />
    </ApiForm>
  )
}

const kinds: Record<ServerDraft['kind'], { label: string; hint: string }> = {
  program: {
    label: 'Program',
    hint: 'It runs inside the sandbox of each run and speaks over its standard streams.',
  },
  address: {
    label: 'Address',
    hint: 'The service calls it with Streamable HTTP. The network rules of the run must allow its host.',
  },
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of a configuration
const REFERENCE = '${NAME} is replaced by a secret that agents receive.'

function ProgramFields({ draft, set, problems }: DraftFields) {
  return (
    <>
      <TextField
        label="Program"
        placeholder="npx"
        mono
        problem={problems.command}
        value={draft.command}
        on_change={command => set({ command })}
      />
      <Lines
        label="Arguments"
        hint={`One in each line. ${REFERENCE}`}
        problem={problems.args}
        value={draft.args}
        on_change={args => set({ args })}
      />
      <Lines
        label="Variables"
        hint={`NAME=value, one in each line. ${REFERENCE}`}
        problem={problems.environment}
        value={draft.environment}
        on_change={environment => set({ environment })}
      />
    </>
  )
}
