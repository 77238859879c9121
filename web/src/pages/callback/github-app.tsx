import { call } from '../../api/client.ts'
import { visible } from '../../text/visible.ts'
import { buttonStyle } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { BackTo, CallbackPage } from './callback-page.tsx'

/** Connects the GitHub App that a person has just created. */
export const GitHubAppPage = () => (
  <CallbackPage
    heading="Connect a GitHub App"
    path="/github-app"
    missing="no response of GitHub"
    view={(state, org_id) => call('getGitHubApp', { params: { org_id }, query: { state } })}
    complete={({ state, code = '' }, org_id) =>
      call('finishGitHubApp', { params: { org_id }, body: { state, code } })
    }
    question={({ organization, request: { url, owner, name } }) => (
      <>
        <p>
          Connect <strong>{organization}</strong> with the app <strong>{visible(name)}</strong> of{' '}
          <strong>{owner === null ? 'your account' : visible(owner)}</strong> on{' '}
          <strong>{visible(new URL(url).host)}</strong>?
        </p>
        <Notice tone="warn">
          Another person began this. {organization} then has the key of the app, and acts with its permissions
          where you install it. Connect it only if you expected this.
        </Notice>
      </>
    )}
    result={({ name, install_url }, org_id) => (
      <>
        <p role="status">{visible(name)} is connected. Next: install it on your repositories.</p>
        <a href={install_url} className={buttonStyle('primary', 'w-full')}>
          Install it
        </a>
        <BackTo org_id={org_id} href="/settings/integrations">
          Back to the integrations
        </BackTo>
      </>
    )}
  />
)
