import { call } from '../../../api/client.ts'
import { ApiForm } from '../../../components/form/api-form.tsx'
import { ConfirmDialog } from '../../../components/form/confirm-dialog.tsx'
import { useRequest } from '../../../components/form/use-request.ts'
import { duration, money } from '../../../text/format.ts'
import { visible } from '../../../text/visible.ts'
import { Notice } from '../../../ui/notice.tsx'
import { type Model, model_queries } from './models-query.ts'

/** Calls a model once, and shows how it went. */
export function TestCall({ model: { id } }: { model: Model }) {
  const test = useRequest(() => call('testModel', { body: { model: id } }))
  const { data } = test
  return (
    <ApiForm label="Test call" request={test} fields={[]} submit={data ? 'Call again' : 'Call the model'}>
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

export const ModelRemoval = ({ model, on_close }: { model: Model; on_close: () => void }) => (
  <ConfirmDialog
    title={`Remove ${visible(model.label)}`}
    action="Remove"
    send={() => call('deleteModel', { query: { id: model.id } })}
    refresh={model_queries}
    done="The model was removed"
    on_close={on_close}
  >
    The settings of this organization for <code className="font-mono text-xs">{visible(model.id)}</code> are
    deleted, and its key. A model that the service knows stays, with the settings of the service; runs that
    name another one fail.
  </ConfirmDialog>
)
