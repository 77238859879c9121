import { useMutation } from '@tanstack/react-query'
import { ExternalLink } from 'lucide-react'
import { useState } from 'react'
import { fieldMessages } from '../../api/api-error.ts'
import { call } from '../../api/client.ts'
import { buttonStyle } from '../../ui/button.tsx'
import { ApiForm, TextField } from '../form/api-form.tsx'
import { forgeKinds } from './forge-kinds.ts'

/** Leads to GitHub, which creates an app and sends its keys to the service. */
export function CreateApp() {
  const [{ url, owner, name }, setApp] = useState({
    url: forgeKinds.github.url ?? '',
    owner: '',
    name: 'agentrun',
  })
  const begin = useMutation({
    mutationFn: () =>
      call('createGitHubApp', { body: { url: url.trim(), owner: owner.trim() || null, name: name.trim() } }),
  })
  const problems = fieldMessages(begin.error)
  const set = (change: { url?: string; owner?: string; name?: string }) => {
    setApp(old => ({ ...old, ...change }))
    begin.reset()
  }
  return (
    <ApiForm
      label="Create a GitHub App"
      request={begin}
      fields={['url', 'owner', 'name']}
      missing={url.trim() === '' || name.trim() === '' ? 'Enter the address and a name first' : null}
      submit="Create app"
      next={
        begin.data && (
          <a
            href={begin.data.open_url}
            target="_blank"
            rel="noopener noreferrer"
            className={buttonStyle('primary')}
          >
            <ExternalLink aria-hidden className="size-3.5" /> Continue on GitHub
          </a>
        )
      }
    >
      <div className="grid gap-3 sm:grid-cols-3">
        <TextField
          label="Address of GitHub"
          hint={forgeKinds.github.url_hint}
          problem={problems.url}
          value={url}
          on_change={text => set({ url: text })}
        />
        <TextField
          label="Organization on GitHub"
          hint="The owner of the app. Leave empty for your account."
          problem={problems.owner}
          value={owner}
          on_change={text => set({ owner: text })}
        />
        <TextField
          label="Name of the app"
          hint="The name must be unique on GitHub."
          problem={problems.name}
          value={name}
          on_change={text => set({ name: text })}
        />
      </div>
    </ApiForm>
  )
}
