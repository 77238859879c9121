import { GITHUB_APP_PATH } from '../../contract/endpoints/forges.ts'
import { isPrivateHost } from '../network/public-address.ts'

/** The permissions that the app needs, and no others. */
const permissions = {
  contents: 'write',
  pull_requests: 'write',
  issues: 'write',
  checks: 'write',
  statuses: 'write',
  metadata: 'read',
  // GitHub rejects commits that change .github/workflows without it; here a person approves such a push.
  workflows: 'write',
}
const events = [
  ...['issue_comment', 'issues', 'pull_request', 'pull_request_review', 'pull_request_review_comment'],
  ...['check_run', 'check_suite', 'status', 'push'],
]
const NAME_CHARS = 34

/**
 * Returns the manifest from which GitHub creates an app. GitHub rejects webhook addresses that it cannot
 * reach: a service at such an address gets an app without webhooks and polls instead.
 */
export function appManifest({
  name,
  base_url,
  connection_id,
}: {
  name: string
  base_url: string
  connection_id: number
}) {
  const reachable = !isPrivateHost(new URL(base_url).hostname)
  return {
    name: name.slice(0, NAME_CHARS).trim(),
    url: base_url,
    redirect_url: base_url + GITHUB_APP_PATH,
    public: false,
    default_permissions: permissions,
    ...(reachable && {
      hook_attributes: { url: `${base_url}/hooks/github/${connection_id}`, active: true },
      default_events: events,
    }),
  }
}

/**
 * Returns the page on which a person approves the app: for the signed-in account, or for an organization on
 * GitHub.
 */
export const manifestUrl = (origin: string, owner: string | null, state: string): string =>
  `${origin}${owner === null ? '' : `/organizations/${encodeURIComponent(owner)}`}/settings/apps/new?state=${encodeURIComponent(state)}`
