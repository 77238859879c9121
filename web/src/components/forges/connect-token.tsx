import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { ForgeKind } from '../../../../src/contract/repositories/forges.ts'
import { fieldMessages } from '../../api/api-error.ts'
import { forgesQuery } from '../../api/queries.ts'
import { visible } from '../../text/visible.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { ApiForm, TextField } from '../form/api-form.tsx'
import { forgeKindNames, forgeKinds } from './forge-kinds.ts'

/** Connects a forge with a token. The secret of its webhooks is shown here once. */
export function ConnectByToken() {
  const queries = useQueryClient()
  const [kind, setKind] = useState<ForgeKind>('github')
  const [typed, setTyped] = useState<string | null>(null)
  const [token, setToken] = useState('')
  const of_kind = forgeKinds[kind]
  const url = typed ?? of_kind.url ?? ''
  const connect = useMutation({
    mutationFn: () => of_kind.connect(url.trim(), token.trim()),
    onSuccess: () => setToken(''),
    onSettled: () => queries.invalidateQueries({ queryKey: forgesQuery.queryKey }),
  })
  const { webhook_url = '', webhook_secret: secret = null } = connect.data ?? {}
  const problems = fieldMessages(connect.error)
  return (
    <ApiForm
      label="Connect with a token"
      request={connect}
      fields={['url', 'token']}
      missing={
        url.trim() === '' ? 'Enter the address first' : token.trim() === '' ? 'Enter a token first' : null
      }
      submit="Connect"
      variant="primary"
    >
      <div className="grid gap-3 sm:grid-cols-[10rem_1fr]">
        <Field label="Forge">
          {props => (
            <Select
              {...props}
              value={kind}
              onChange={event => {
                setKind(event.target.value as ForgeKind)
                setTyped(null)
              }}
            >
              {forgeKindNames.map(name => (
                <option key={name} value={name}>
                  {forgeKinds[name].name}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <TextField
          label="Address"
          hint={of_kind.url_hint}
          problem={problems.url}
          type="url"
          value={url}
          on_change={setTyped}
        />
      </div>
      <TextField
        label="Token"
        hint={of_kind.token_hint}
        problem={problems.token}
        type="password"
        value={token}
        on_change={setToken}
      />
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
