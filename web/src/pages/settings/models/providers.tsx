import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldMessages } from '../../../api/api-error.ts'
import { call } from '../../../api/client.ts'
import { ApiForm, TextField } from '../../../components/form/api-form.tsx'
import { ConfirmDialog } from '../../../components/form/confirm-dialog.tsx'
import { moment } from '../../../text/format.ts'
import { visible } from '../../../text/visible.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { type Column, Table } from '../../../ui/table.tsx'
import { notify } from '../../../ui/toast.ts'
import { type Provider, provider_names, useModelsChanged } from './models-query.ts'

type Act = { kind: 'set' | 'remove'; provider: Provider }

/** The providers with a key of their own. */
export function Providers({ providers, forbidden }: { providers: Provider[]; forbidden: string | null }) {
  const [act, setAct] = useState<Act | null>(null)
  const close = () => setAct(null)
  const actions: Column<Provider> = {
    name: '',
    cell: provider => (
      <span className="flex justify-end gap-1">
        <Button
          variant="quiet"
          reason={forbidden}
          aria-label={`${provider.source === 'organization' ? 'Replace' : 'Set'} key of ${provider_names[provider.provider]}`}
          onClick={() => setAct({ kind: 'set', provider })}
        >
          {provider.source === 'organization' ? 'Replace key' : 'Set key'}
        </Button>
        {provider.source === 'organization' && (
          <Button
            variant="quiet"
            reason={forbidden}
            aria-label={`Remove key of ${provider_names[provider.provider]}`}
            onClick={() => setAct({ kind: 'remove', provider })}
          >
            Remove
          </Button>
        )}
      </span>
    ),
  }
  return (
    <>
      <Table
        label="Keys of providers"
        columns={[...columns, actions]}
        rows={providers}
        row_key={({ provider }) => provider}
      />
      {act && (
        <>
          <Dialog
            title={`Key of ${provider_names[act.provider.provider]}`}
            open={act.kind === 'set'}
            on_close={close}
          >
            <KeyForm provider={act.provider} on_done={close} />
          </Dialog>
          <Removal act={act} on_close={close} />
        </>
      )}
    </>
  )
}

const columns: Column<Provider>[] = [
  {
    name: 'Provider',
    main: true,
    cell: ({ provider, base_url }) => (
      <>
        <span className="font-medium">{provider_names[provider]}</span>
        {base_url !== null && (
          <span className="block font-mono text-faint text-xs [overflow-wrap:anywhere]">
            {visible(base_url)}
          </span>
        )}
      </>
    ),
  },
  {
    name: 'Key',
    cell: ({ source }) =>
      source === 'organization' ? (
        <Badge tone="ok">Set here</Badge>
      ) : source === 'service' ? (
        <Badge>Set by the operator</Badge>
      ) : (
        <span className="text-faint">none</span>
      ),
  },
  {
    name: 'Changed',
    wide_only: true,
    cell: ({ updated_at }) =>
      updated_at !== null && (
        <time dateTime={updated_at} className="text-muted">
          {moment(updated_at)}
        </time>
      ),
  },
]

function KeyForm({
  provider: { provider, base_url, source },
  on_done,
}: {
  provider: Provider
  on_done: () => void
}) {
  const changed = useModelsChanged()
  const [key, setKey] = useState('')
  const [address, setAddress] = useState(base_url ?? '')
  const compatible = provider === 'openai-compatible'
  const save = useMutation({
    mutationFn: () =>
      call('setModelProvider', {
        params: { provider },
        body: { api_key: key.trim() || undefined, base_url: address.trim() || undefined },
      }),
    onSuccess: async () => {
      await changed()
      notify('The key was saved')
      on_done()
    },
  })
  const problems = fieldMessages(save.error)
  const needed = compatible
    ? address.trim() === '' && 'Enter the address first'
    : key.trim() === '' && 'Enter the key first'
  return (
    <ApiForm
      label="Key"
      request={save}
      fields={['api_key', 'base_url']}
      missing={needed || null}
      submit="Save key"
      variant="primary"
    >
      <TextField
        label="Key"
        hint={
          compatible
            ? 'Leave it empty for a server without a key. It is never shown again.'
            : source === null
              ? 'It is stored encrypted, and never shown again.'
              : 'It replaces the present one, and is never shown again.'
        }
        type="password"
        problem={problems.api_key}
        value={key}
        on_change={setKey}
      />
      <TextField
        label="Address"
        hint={
          compatible
            ? 'The API of the server, with its path.'
            : "Optional: the provider's own address is used without one."
        }
        placeholder={compatible ? 'https://models.example.org/v1' : ''}
        mono
        problem={problems.base_url}
        value={address}
        on_change={setAddress}
      />
    </ApiForm>
  )
}

function Removal({ act: { kind, provider }, on_close }: { act: Act; on_close: () => void }) {
  const changed = useModelsChanged()
  const remove = useMutation({
    mutationFn: () => call('deleteModelProvider', { params: { provider: provider.provider } }),
    onSuccess: async () => {
      await changed()
      notify('The key was removed')
      on_close()
    },
  })
  return (
    <ConfirmDialog
      title={`Remove the key of ${provider_names[provider.provider]}`}
      action="Remove key"
      request={remove}
      open={kind === 'remove'}
      on_close={on_close}
    >
      The key is deleted. Models of this provider then use the key of the operator; without one they cannot be
      called.
    </ConfirmDialog>
  )
}
