import { moment, plural } from '../../../text/format.ts'
import { visible } from '../../../text/visible.ts'
import { Notice } from '../../../ui/notice.tsx'
import type { Webhook } from './webhooks-query.ts'

/** Why nothing is sent now, or what is special. Nothing is shown when all is well. */
export function WebhookState({ webhook }: { webhook: Webhook }) {
  const { failures, rests_until, disabled_at, disabled_reason, previous_secret_until } = webhook
  const resting = rests_until !== null && Date.parse(rests_until) > Date.now()
  return (
    <>
      {disabled_at !== null && (
        <Notice tone="warn">
          The service disabled the webhook on {moment(disabled_at)}: {visible(disabled_reason ?? 'it failed')}
          . Save it to enable it again; messages that have waited for less than a day are then sent.
        </Notice>
      )}
      {disabled_at === null && resting && (
        <Notice tone="warn">
          {plural(failures, 'attempt')} failed in a row. Nothing is sent until {moment(rests_until)}; then one
          message is sent, and if it is accepted, the others follow.
        </Notice>
      )}
      {previous_secret_until !== null && (
        <Notice>
          The previous secret signs messages too, until {moment(previous_secret_until)}, so that receivers can
          change to the new one.
        </Notice>
      )}
    </>
  )
}
