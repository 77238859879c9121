import type { ForgeKind } from '../../../../src/contract/repositories/forges.ts'
import { forgesQuery } from '../../api/queries.ts'
import { visible } from '../../text/visible.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { ApiForm, SelectField, TextField } from '../form/api-form.tsx'
import { useForm } from '../form/use-form.ts'
import { forgeKindNames, forgeKinds } from './forge-kinds.ts'

/** Connects a forge with a token. The secret of its webhooks is shown here once. */
export function ConnectByToken() {
  const { draft, set, field, request, props } = useForm({
    saved: { kind: 'github' as ForgeKind, url: null as string | null, token: '' },
    send: ({ kind, url, token }) =>
      forgeKinds[kind].connect((url ?? forgeKinds[kind].url ?? '').trim(), token.trim()),
    settled: [forgesQuery],
    kept: ['kind', 'url'],
  })
  const of_kind = forgeKinds[draft.kind]
  const url = draft.url ?? of_kind.url ?? ''
  const { webhook_url = '', webhook_secret: secret = null } = request.data ?? {}
  return (
    <ApiForm
      {...props}
      label="Connect with a token"
      missing={
        url.trim() === ''
          ? 'Enter the address first'
          : draft.token.trim() === ''
            ? 'Enter a token first'
            : null
      }
      submit="Connect"
    >
      <div className="grid gap-3 sm:grid-cols-[10rem_1fr]">
        <SelectField
          label="Forge"
          value={draft.kind}
          on_change={kind => set({ kind, url: null })}
          options={forgeKindNames.map(kind => [kind, forgeKinds[kind].name] as const)}
        />
        <TextField {...field('url')} label="Address" hint={of_kind.url_hint} type="url" value={url} />
      </div>
      <TextField {...field('token')} label="Token" hint={of_kind.token_hint} type="password" />
      {secret !== null && (
        <Notice>
          Point a webhook of the forge at <code className="font-mono text-xs">{visible(webhook_url)}</code>
          <CopyButton label="Copy the address" text={() => webhook_url} /> with the secret{' '}
          <code className="font-mono text-xs">{visible(secret)}</code>
          <CopyButton label="Copy the secret" text={() => secret} />. It is not shown again. Without a webhook
          the service polls for itself, from time to time.
        </Notice>
      )}
    </ApiForm>
  )
}
