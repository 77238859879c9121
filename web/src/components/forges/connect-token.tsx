import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { ForgeKind } from '../../../../src/contract/forges.ts'
import { fieldMessages } from '../../api/problem.ts'
import { forgesQuery } from '../../api/queries.ts'
import { visible } from '../../text/visible.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Field, Input, Select } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { useAdminReason } from '../permission.ts'
import { forgeKindNames, forgeKinds } from './forge-kinds.ts'

/** Connects a forge by a token. What signs its webhooks is shown here, once. */
export function ConnectByToken() {
  const queries = useQueryClient()
  const forbidden = useAdminReason()
  const [kind, setKind] = useState<ForgeKind>('github')
  const [url, setUrl] = useState<string | null>(null)
  const [token, setToken] = useState('')
  const of_kind = forgeKinds[kind]
  const address = (url ?? of_kind.url ?? '').trim()
  const connect = useMutation({
    mutationFn: () => of_kind.connect(address, token.trim()),
    onSuccess: () => setToken(''),
    onSettled: () => queries.invalidateQueries({ queryKey: forgesQuery.queryKey }),
  })
  const { webhook_url = '', webhook_secret: secret = null } = connect.data ?? {}
  const problems = fieldMessages(connect.error)
  const reason = forbidden ?? (address === '' ? 'Say where it is first' : token.trim() === '' ? 'Give a token first' : null)
  return (
    <form
      aria-label="Connect by a token"
      className="space-y-3"
      onSubmit={event => {
        event.preventDefault()
        if (!reason && !connect.isPending) connect.mutate()
      }}
    >
      <div className="grid gap-3 sm:grid-cols-[10rem_1fr]">
        <Field label="Forge">
          {props => (
            <Select
              {...props}
              value={kind}
              disabled={forbidden !== null}
              onChange={event => {
                setKind(event.target.value as ForgeKind)
                setUrl(null)
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
        <Field label="Address" hint={of_kind.url_hint} problem={problems.url}>
          {props => (
            <Input
              {...props}
              type="url"
              value={url ?? of_kind.url ?? ''}
              disabled={forbidden !== null}
              onChange={event => setUrl(event.target.value)}
            />
          )}
        </Field>
      </div>
      <Field label="Token" hint={of_kind.token_hint} problem={problems.token}>
        {props => (
          <Input
            {...props}
            type="password"
            value={token}
            disabled={forbidden !== null}
            spellCheck={false}
            onChange={event => setToken(event.target.value)}
          />
        )}
      </Field>
      {connect.isError && Object.keys(problems).every(name => name !== 'url' && name !== 'token') && (
        <Notice tone="bad">{visible(connect.error.message)}</Notice>
      )}
      {secret !== null && (
        <Notice>
          Point a webhook of the forge at <code className="font-mono text-xs">{visible(webhook_url)}</code>
          <CopyButton label="Copy the address" text={() => webhook_url} /> with the secret{' '}
          <code className="font-mono text-xs">{visible(secret)}</code>
          <CopyButton label="Copy the secret" text={() => secret} />, which is not shown again. Without a webhook the service looks for
          itself, from time to time.
        </Notice>
      )}
      <Button type="submit" variant="primary" reason={reason} busy={connect.isPending}>
        Connect
      </Button>
    </form>
  )
}
