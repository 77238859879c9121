import { isPrivateHost } from '../network/public-address.ts'

/** What an app needs to do here: no more. */
const permissions = {
  ...{ contents: 'write', pull_requests: 'write', issues: 'write', checks: 'write', statuses: 'write', metadata: 'read' },
  // GitHub takes no commit that changes .github/workflows without it; a person approves such a push here.
  workflows: 'write',
}
const events = [
  ...['issue_comment', 'issues', 'pull_request', 'pull_request_review', 'pull_request_review_comment'],
  ...['check_run', 'check_suite', 'status', 'push'],
]
const NAME_CHARS = 34

/**
 * What GitHub makes an app of. GitHub takes no webhooks for an address that it cannot reach: a service on one has an app without, and looks for
 * itself.
 */
export function appManifest({ name, base_url, connection_id }: { name: string; base_url: string; connection_id: number }) {
  const reachable = !isPrivateHost(new URL(base_url).hostname)
  return {
    name: name.slice(0, NAME_CHARS).trim(),
    url: base_url,
    redirect_url: `${base_url}/hooks/github-app/callback`,
    public: false,
    default_permissions: permissions,
    ...(reachable && { hook_attributes: { url: `${base_url}/hooks/github/${connection_id}`, active: true }, default_events: events }),
  }
}

/** Where a person agrees to it: on the account that is signed in, or on an organization there. */
export const manifestUrl = (origin: string, owner: string | null, state: string): string =>
  `${origin}${owner === null ? '' : `/organizations/${encodeURIComponent(owner)}`}/settings/apps/new?state=${encodeURIComponent(state)}`
