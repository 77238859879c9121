import { linkOptions } from '@tanstack/react-router'
import {
  BookOpen,
  Box,
  ChartNoAxesColumn,
  FolderGit2,
  GitPullRequest,
  ListTree,
  Settings,
} from 'lucide-react'

/** The pages of the sidebar. `key`: the letter that opens the page after `g`. */
export const navigation = [
  { name: 'Runs', Icon: ListTree, key: 'r', link: linkOptions({ to: '/' }) },
  { name: 'Pull requests', Icon: GitPullRequest, key: 'p', link: linkOptions({ to: '/pull-requests' }) },
  { name: 'Repositories', Icon: FolderGit2, key: 'o', link: linkOptions({ to: '/repositories' }) },
  { name: 'Sandboxes', Icon: Box, key: 'b', link: linkOptions({ to: '/sandboxes' }) },
  { name: 'Usage', Icon: ChartNoAxesColumn, key: 'u', link: linkOptions({ to: '/usage' }) },
] as const

export const secondary_navigation = [
  { name: 'Settings', Icon: Settings, key: 's', link: linkOptions({ to: '/settings' }) },
  { name: 'API reference', Icon: BookOpen, key: 'd', link: linkOptions({ to: '/docs' }) },
] as const

export const all_navigation = [...navigation, ...secondary_navigation]
