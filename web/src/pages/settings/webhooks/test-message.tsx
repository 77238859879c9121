import { useMutation } from '@tanstack/react-query'
import { fieldMessages } from '../../../api/api-error.ts'
import { call } from '../../../api/client.ts'
import { duration } from '../../../text/format.ts'
import { visible } from '../../../text/visible.ts'
import { Button } from '../../../ui/button.tsx'
import { Notice } from '../../../ui/notice.tsx'

/** Sends a test message to the typed address, which need not be saved, and shows what came back. */
export function TestMessage({ url }: { url: string }) {
  const test = useMutation({ mutationFn: (to: string) => call('testWebhook', { body: { url: to } }) })
  const { data, error } = test
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap items-center gap-3">
        <Button
          reason={url === '' ? 'Enter the address first' : null}
          busy={test.isPending}
          onClick={() => test.mutate(url)}
        >
          Send test message
        </Button>
        <span className="text-faint text-xs">
          Sends a webhook.test to the address above, without saving it.
        </span>
      </div>
      {error && <Notice tone="bad">{visible(fieldMessages(error).url ?? error.message)}</Notice>}
      {data?.delivered && (
        <Notice>
          Accepted with status {data.status} after {duration(data.latency_ms)}.{' '}
          {data.signed
            ? 'The message was signed.'
            : 'The message was not signed: only those to the saved address are.'}
        </Notice>
      )}
      {data && !data.delivered && (
        <Notice tone="bad">
          Not accepted after {duration(data.latency_ms)}: {visible(data.error ?? 'no reason was given')}.
        </Notice>
      )}
    </div>
  )
}
