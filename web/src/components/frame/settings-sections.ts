import { linkOptions } from '@tanstack/react-router'
import type { SectionLink } from '../../ui/section-nav.tsx'

/** The pages of the settings. Each has a route in routes.ts. */
export const settingsSections: { name: string; items: SectionLink[] }[] = [
  {
    name: 'Organization',
    items: [
      { name: 'General', link: linkOptions({ to: '/settings' }), exact: true },
      { name: 'Limits and budgets', link: linkOptions({ to: '/settings/limits' }) },
      { name: 'Health', link: linkOptions({ to: '/settings/health' }) },
      { name: 'Audit log', link: linkOptions({ to: '/settings/audit-log' }) },
    ],
  },
  {
    name: 'Access',
    items: [
      { name: 'Members', link: linkOptions({ to: '/settings/members' }) },
      { name: 'Service users', link: linkOptions({ to: '/settings/service-users' }) },
      { name: 'Tokens', link: linkOptions({ to: '/settings/tokens' }) },
    ],
  },
  {
    name: 'Runs',
    items: [
      { name: 'Models and keys', link: linkOptions({ to: '/settings/models' }) },
      { name: 'Secrets', link: linkOptions({ to: '/settings/secrets' }) },
      { name: 'Network', link: linkOptions({ to: '/settings/network' }) },
      { name: 'MCP servers', link: linkOptions({ to: '/settings/mcp-servers' }) },
      { name: 'Skills', link: linkOptions({ to: '/settings/skills' }) },
    ],
  },
  {
    name: 'Connections',
    items: [
      { name: 'Integrations', link: linkOptions({ to: '/settings/integrations' }) },
      { name: 'Webhooks', link: linkOptions({ to: '/settings/webhooks' }) },
    ],
  },
  { name: 'You', items: [{ name: 'Profile', link: linkOptions({ to: '/settings/profile' }) }] },
]
