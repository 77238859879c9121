import { linkOptions } from '@tanstack/react-router'
import type { SectionLink } from '../../ui/section-nav.tsx'

/** The pages of the settings. Each has a route in routes.ts. */
export const settingsSections: { name: string; items: SectionLink[] }[] = [
  {
    name: 'Organization',
    items: [
      { name: 'General', link: linkOptions({ to: '/settings' }) },
      { name: 'Members', link: linkOptions({ to: '/settings/members' }) },
      { name: 'Integrations', link: linkOptions({ to: '/settings/integrations' }) },
    ],
  },
]
