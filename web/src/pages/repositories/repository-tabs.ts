import { linkOptions } from '@tanstack/react-router'
import type { SectionLink } from '../../ui/section-nav.tsx'

/** The tabs of a repository. Each has a route in routes.ts. */
export const repositoryTabs = (repoId: string): SectionLink[] => [
  { name: 'General', link: linkOptions({ to: '/repositories/$repoId', params: { repoId } }) },
  { name: 'Setup', link: linkOptions({ to: '/repositories/$repoId/setup', params: { repoId } }) },
  { name: 'Environment', link: linkOptions({ to: '/repositories/$repoId/environment', params: { repoId } }) },
  { name: 'Checks', link: linkOptions({ to: '/repositories/$repoId/checks', params: { repoId } }) },
  { name: 'Secrets', link: linkOptions({ to: '/repositories/$repoId/secrets', params: { repoId } }) },
  { name: 'Network', link: linkOptions({ to: '/repositories/$repoId/network', params: { repoId } }) },
  { name: 'MCP servers', link: linkOptions({ to: '/repositories/$repoId/mcp-servers', params: { repoId } }) },
  { name: 'Webhooks', link: linkOptions({ to: '/repositories/$repoId/webhooks', params: { repoId } }) },
  { name: 'Danger zone', link: linkOptions({ to: '/repositories/$repoId/danger', params: { repoId } }) },
]
