import { useMutation } from '@tanstack/react-query'
import { ExternalLink } from 'lucide-react'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { fieldMessages } from '../../api/problem.ts'
import { visible } from '../../text/visible.ts'
import { Button, buttonLook } from '../../ui/button.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { useAdminReason } from '../permission.ts'
import { forgeKinds } from './forge-kinds.ts'

/** Leads to GitHub, which makes an app and tells the service its keys. */
export function CreateApp() {
  const forbidden = useAdminReason()
  const [url, setUrl] = useState(forgeKinds.github.url ?? '')
  const [owner, setOwner] = useState('')
  const [name, setName] = useState('agentrun')
  const begin = useMutation({
    mutationFn: () => call('createGitHubApp', { body: { url: url.trim(), owner: owner.trim() || null, name: name.trim() } }),
  })
  const problems = fieldMessages(begin.error)
  const reason = forbidden ?? (url.trim() === '' || name.trim() === '' ? 'Say where, and what it is to be called' : null)
  const field = (label: string, value: string, set: (text: string) => void, problem: string | undefined, hint: string) => (
    <Field label={label} problem={problem} hint={hint}>
      {props => (
        <Input
          {...props}
          value={value}
          disabled={forbidden !== null}
          onChange={event => {
            set(event.target.value)
            begin.reset()
          }}
        />
      )}
    </Field>
  )
  return (
    <form
      aria-label="Make a GitHub App"
      className="space-y-3"
      onSubmit={event => {
        event.preventDefault()
        if (!reason && !begin.isPending) begin.mutate()
      }}
    >
      <div className="grid gap-3 sm:grid-cols-3">
        {field('Address of GitHub', url, setUrl, problems.url, forgeKinds.github.url_hint)}
        {field('Organization there', owner, setOwner, problems.owner, 'That the app is to belong to; empty: your account.')}
        {field('Name of the app', name, setName, problems.name, 'Nobody there may have it.')}
      </div>
      {begin.isError && Object.keys(problems).length === 0 && <Notice tone="bad">{visible(begin.error.message)}</Notice>}
      {begin.data ? (
        <a href={begin.data.open_url} target="_blank" rel="noopener noreferrer" className={buttonLook('primary')}>
          <ExternalLink aria-hidden className="size-3.5" /> Go on at GitHub
        </a>
      ) : (
        <Button type="submit" reason={reason} busy={begin.isPending}>
          Make an app
        </Button>
      )}
    </form>
  )
}
