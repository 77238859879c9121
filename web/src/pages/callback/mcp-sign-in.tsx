import { call } from '../../api/client.ts'
import { visible } from '../../text/visible.ts'
import { Notice } from '../../ui/notice.tsx'
import { BackTo, CallbackPage } from './callback-page.tsx'

/** Completes a sign-in to an MCP server. */
export const McpSignInPage = () => (
  <CallbackPage
    heading="Sign in to an MCP server"
    path="/mcp-sign-in"
    missing="no response of an authorization server"
    view={(state, org_id) => call('getMcpSignIn', { params: { org_id }, query: { state } })}
    complete={(body, org_id) => call('finishMcpSignIn', { params: { org_id }, body })}
    question={({ organization, request: { server, issuer, url } }) => (
      <>
        <p>
          Connect <strong>{server}</strong> of <strong>{organization}</strong> to{' '}
          <strong>{visible(new URL(issuer).host)}</strong>?
        </p>
        <Notice tone="warn">
          Another person began this sign-in. Everybody who starts runs in {organization} then acts with your
          access to <code className="font-mono text-xs [overflow-wrap:anywhere]">{visible(url)}</code>.
          Connect it only if you expected this.
        </Notice>
      </>
    )}
    result={({ server, repo_id, problem }, org_id) => (
      <>
        {problem === null ? (
          <p role="status">You are signed in to {server}.</p>
        ) : (
          <Notice tone="bad">{visible(`You are not signed in to ${server}: ${problem}.`)}</Notice>
        )}
        <BackTo
          org_id={org_id}
          href={repo_id === null ? '/settings/mcp-servers' : `/repositories/${repo_id}/mcp-servers`}
        >
          Back to the MCP servers
        </BackTo>
      </>
    )}
  />
)
