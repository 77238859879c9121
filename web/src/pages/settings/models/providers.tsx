import { call } from '../../../api/client.ts'
import { ApiForm, TextField } from '../../../components/form/api-form.tsx'
import { ConfirmDialog } from '../../../components/form/confirm-dialog.tsx'
import { useForm } from '../../../components/form/use-form.ts'
import { momentColumn, ResourceTable } from '../../../components/resource-page.tsx'
import { visible } from '../../../text/visible.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import type { Column } from '../../../ui/table.tsx'
import { model_queries, type Provider, provider_names } from './models-query.ts'

const nameOf = ({ provider }: Provider) => provider_names[provider]

/** The providers with a key of their own. */
export const Providers = ({ providers, forbidden }: { providers: Provider[]; forbidden: string | null }) => (
  <ResourceTable
    label="Keys of providers"
    columns={columns}
    rows={providers}
    name={nameOf}
    actions={provider => {
      const is_set = provider.source === 'organization'
      return [
        {
          text: is_set ? 'Replace key' : 'Set key',
          label: `${is_set ? 'Replace' : 'Set'} key of ${nameOf(provider)}`,
          reason: forbidden,
          dialog: close => (
            <Dialog title={`Key of ${nameOf(provider)}`} on_close={close}>
              <KeyForm provider={provider} on_done={close} />
            </Dialog>
          ),
        },
        is_set && {
          text: 'Remove',
          label: `Remove key of ${nameOf(provider)}`,
          reason: forbidden,
          dialog: close => <Removal provider={provider} on_close={close} />,
        },
      ]
    }}
  />
)

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
  momentColumn('Changed', ({ updated_at }) => updated_at),
]

type FormProps = { provider: Provider; on_done: () => void }

function KeyForm({ provider: { provider, base_url, source }, on_done }: FormProps) {
  const compatible = provider === 'openai-compatible'
  const { draft, field, props } = useForm({
    saved: { api_key: '', base_url: base_url ?? '' },
    send: edited =>
      call('setModelProvider', {
        params: { provider },
        body: {
          api_key: edited.api_key.trim() || undefined,
          base_url: edited.base_url.trim() || undefined,
        },
      }),
    refresh: model_queries,
    done: 'The key was saved',
    on_done,
  })
  const needed = compatible
    ? draft.base_url.trim() === '' && 'Enter the address first'
    : draft.api_key.trim() === '' && 'Enter the key first'
  return (
    <ApiForm {...props} label="Key" missing={needed || null} submit="Save key">
      <TextField
        {...field('api_key')}
        label="Key"
        hint={
          compatible
            ? 'Leave it empty for a server without a key. It is never shown again.'
            : source === null
              ? 'It is stored encrypted, and never shown again.'
              : 'It replaces the present one, and is never shown again.'
        }
        type="password"
      />
      <TextField
        {...field('base_url')}
        label="Address"
        hint={
          compatible
            ? 'The API of the server, with its path.'
            : "Optional: the provider's own address is used without one."
        }
        placeholder={compatible ? 'https://models.example.org/v1' : ''}
        mono
      />
    </ApiForm>
  )
}

const Removal = ({ provider, on_close }: { provider: Provider; on_close: () => void }) => (
  <ConfirmDialog
    title={`Remove the key of ${nameOf(provider)}`}
    action="Remove key"
    send={() => call('deleteModelProvider', { params: { provider: provider.provider } })}
    refresh={model_queries}
    done="The key was removed"
    on_close={on_close}
  >
    The key is deleted. Models of this provider then use the key of the operator; without one they cannot be
    called.
  </ConfirmDialog>
)
