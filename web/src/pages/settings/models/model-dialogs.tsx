import { useMutation } from '@tanstack/react-query'
import { call } from '../../../api/client.ts'
import { ApiForm } from '../../../components/form/api-form.tsx'
import { ConfirmDialog } from '../../../components/form/confirm-dialog.tsx'
import { duration, money } from '../../../text/format.ts'
import { visible } from '../../../text/visible.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { Notice } from '../../../ui/notice.tsx'
import { notify } from '../../../ui/toast.ts'
import { ModelForm } from './model-form.tsx'
import { type Model, useModelsChanged } from './models-query.ts'

export type ModelAct = { kind: 'add' } | { kind: 'edit' | 'test' | 'remove'; model: Model }

export function ModelDialogs({ act, on_close }: { act: ModelAct; on_close: () => void }) {
  if (act.kind === 'remove') return <Removal model={act.model} on_close={on_close} />
  const title =
    act.kind === 'add' ? 'Add model' : `${act.kind === 'edit' ? 'Edit' : 'Test'} ${visible(act.model.label)}`
  return (
    <Dialog title={title} open on_close={on_close}>
      {act.kind === 'test' ? (
        <TestCall model={act.model} />
      ) : (
        <ModelForm model={act.kind === 'edit' ? act.model : null} on_done={on_close} />
      )}
    </Dialog>
  )
}

function TestCall({ model: { id } }: { model: Model }) {
  const test = useMutation({ mutationFn: () => call('testModel', { body: { model: id } }) })
  const { data } = test
  return (
    <ApiForm
      label="Test call"
      request={test}
      fields={[]}
      submit={data ? 'Call again' : 'Call the model'}
      variant="primary"
    >
      <p className="text-muted">
        Sends one small request to <code className="font-mono text-xs">{visible(id)}</code>, for which the
        provider may charge.
      </p>
      {data?.error === null && (
        <Notice>
          It responded after {duration(data.latency_ms)}.
          {data.cost_usd !== null && ` The call cost ${money(data.cost_usd)}.`}
        </Notice>
      )}
      {data && data.error !== null && (
        <Notice tone="bad">
          It failed after {duration(data.latency_ms)}: <strong>{data.error.code}</strong>
          {data.error.http_status !== null && ` (status ${data.error.http_status})`}.{' '}
          {visible(data.error.message)}
        </Notice>
      )}
    </ApiForm>
  )
}

function Removal({ model, on_close }: { model: Model; on_close: () => void }) {
  const changed = useModelsChanged()
  const remove = useMutation({
    mutationFn: () => call('deleteModel', { query: { id: model.id } }),
    onSuccess: async () => {
      await changed()
      notify('The model was removed')
      on_close()
    },
  })
  return (
    <ConfirmDialog
      title={`Remove ${visible(model.label)}`}
      action="Remove"
      request={remove}
      open
      on_close={on_close}
    >
      The settings of this organization for <code className="font-mono text-xs">{visible(model.id)}</code> are
      deleted, and its key. A model that the service knows stays, with the settings of the service; runs that
      name another one fail.
    </ConfirmDialog>
  )
}
