import { useMutation } from '@tanstack/react-query'
import { ExternalLink } from 'lucide-react'
import { useState } from 'react'
import { fieldMessages } from '../../api/api-error.ts'
import { call } from '../../api/client.ts'
import { buttonLook } from '../../ui/button.tsx'
import { ForgeForm, ForgeText } from './forge-form.tsx'
import { forgeKinds } from './forge-kinds.ts'

/** Leads to GitHub, which makes an app and tells the service its keys. */
export function CreateApp() {
  const [{ url, owner, name }, setApp] = useState({ url: forgeKinds.github.url ?? '', owner: '', name: 'agentrun' })
  const begin = useMutation({
    mutationFn: () => call('createGitHubApp', { body: { url: url.trim(), owner: owner.trim() || null, name: name.trim() } }),
  })
  const problems = fieldMessages(begin.error)
  const set = (change: { url?: string; owner?: string; name?: string }) => {
    setApp(old => ({ ...old, ...change }))
    begin.reset()
  }
  return (
    <ForgeForm
      label="Make a GitHub App"
      request={begin}
      parts={['url', 'owner', 'name']}
      missing={url.trim() === '' || name.trim() === '' ? 'Say where, and what it is to be called' : null}
      button="Make an app"
      next={
        begin.data && (
          <a href={begin.data.open_url} target="_blank" rel="noopener noreferrer" className={buttonLook('primary')}>
            <ExternalLink aria-hidden className="size-3.5" /> Go on at GitHub
          </a>
        )
      }
    >
      <div className="grid gap-3 sm:grid-cols-3">
        <ForgeText
          label="Address of GitHub"
          hint={forgeKinds.github.url_hint}
          problem={problems.url}
          value={url}
          on_change={text => set({ url: text })}
        />
        <ForgeText
          label="Organization there"
          hint="That the app is to belong to; empty: your account."
          problem={problems.owner}
          value={owner}
          on_change={text => set({ owner: text })}
        />
        <ForgeText
          label="Name of the app"
          hint="The name must be unique on GitHub."
          problem={problems.name}
          value={name}
          on_change={text => set({ name: text })}
        />
      </div>
    </ForgeForm>
  )
}
