import { ExternalLink } from 'lucide-react'
import { call } from '../../api/client.ts'
import { buttonStyle } from '../../ui/button.tsx'
import { ApiForm, TextField } from '../form/api-form.tsx'
import { useForm } from '../form/use-form.ts'
import { forgeKinds } from './forge-kinds.ts'

/** Leads to GitHub, which creates an app and sends its keys to the service. */
export function CreateApp() {
  const { draft, set, field, request, props } = useForm({
    saved: { url: forgeKinds.github.url ?? '', owner: '', name: 'agentrun' },
    send: ({ url, owner, name }) =>
      call('createGitHubApp', { body: { url: url.trim(), owner: owner.trim() || null, name: name.trim() } }),
    kept: ['url', 'owner', 'name'],
  })
  // What is edited afterwards is another app.
  const fresh = (name: keyof typeof draft) => ({
    ...field(name),
    on_change: (text: string) => {
      set({ [name]: text })
      request.reset()
    },
  })
  return (
    <ApiForm
      {...props}
      variant="plain"
      label="Create a GitHub App"
      missing={
        draft.url.trim() === '' || draft.name.trim() === '' ? 'Enter the address and a name first' : null
      }
      submit="Create app"
      next={
        request.data && (
          <a
            href={request.data.open_url}
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
        <TextField {...fresh('url')} label="Address of GitHub" hint={forgeKinds.github.url_hint} />
        <TextField
          {...fresh('owner')}
          label="Organization on GitHub"
          hint="The owner of the app. Leave empty for your account."
        />
        <TextField {...fresh('name')} label="Name of the app" hint="The name must be unique on GitHub." />
      </div>
    </ApiForm>
  )
}
