import { linkOptions } from '@tanstack/react-router'
import type { SectionLink } from '../../ui/section-nav.tsx'

/** The tabs of a repository. Each has a route in routes.ts. */
export const repositoryTabs = (repoId: string): SectionLink[] => [
  { name: 'General', link: linkOptions({ to: '/repositories/$repoId', params: { repoId } }) },
  { name: 'Environment', link: linkOptions({ to: '/repositories/$repoId/environment', params: { repoId } }) },
]
