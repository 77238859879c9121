import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import {
  FolderGit2,
  Keyboard,
  LogOut,
  Monitor,
  Moon,
  Plus,
  Settings,
  SquareTerminal,
  Sun,
} from 'lucide-react'
import type { ReactNode } from 'react'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { reasonNames } from '../../api/names.ts'
import { repositoriesQuery } from '../../api/queries.ts'
import { visible } from '../../text/visible.ts'
import { useReadOnlyReason } from '../permission.ts'
import { chooseTheme } from '../theme.ts'
import { all_navigation } from './navigation.ts'
import { pageCommands } from './page-commands.ts'
import { settingsSections } from './settings-sections.ts'
import { useSignOut } from './use-sign-out.ts'

/** `words`: by which it is found in addition to its text. */
export type Command = {
  id: string
  icon: ReactNode
  text: string
  words?: string
  note?: string
  keys?: string
  execute: () => void
}

const MAX_REPOSITORIES = 5

/** By which a page is found in addition to its name: what one does there. */
const words_of_pages: Record<string, string> = {
  Repositories: 'add repository',
  General: 'organization defaults rules',
  'Limits and budgets': 'cost budget',
  Health: 'doctor check',
  Members: 'invite person user role',
  'Service users': 'bot add',
  Tokens: 'create token api key',
  'Models and keys': 'add model provider key price',
  Secrets: 'add secret password',
  Network: 'egress hosts allow',
  'MCP servers': 'add tools',
  Integrations: 'connect forge github gitea',
  Webhooks: 'add deliveries',
  Profile: 'name prompt',
}

/** Whether each word of the search begins a word of the text. */
const matches = (text: string, search: string) => {
  const words = text.toLowerCase().split(/[^\p{L}\p{N}]+/u)
  return search
    .toLowerCase()
    .split(/\s+/)
    .every(part => words.some(word => word.startsWith(part)) || text.toLowerCase().includes(part))
}

/** What the command menu offers for a text, in groups. `runs`: what the service found. */
export function useCommands(
  text: string,
  runs: AgentRun[],
  on_keys: () => void,
): { title: string; commands: Command[] }[] {
  const navigate = useNavigate()
  const signOut = useSignOut()
  const may_start = useReadOnlyReason() === null
  const repositories = useQuery(repositoriesQuery).data ?? []
  const found = (commands: Command[]) =>
    commands.filter(command => text === '' || matches(`${command.text} ${command.words ?? ''}`, text))

  const pages = all_navigation.map(
    ({ name, Icon, key, link }): Command => ({
      id: `page-${key}`,
      icon: <Icon />,
      text: name,
      keys: `g ${key}`,
      words: words_of_pages[name] ?? '',
      execute: () => void navigate(link),
    }),
  )
  const settings = settingsSections.flatMap(section =>
    section.items.map(
      ({ name, link }): Command => ({
        id: `settings-${name}`,
        icon: <Settings />,
        text: name,
        note: 'Settings',
        words: `settings ${words_of_pages[name] ?? ''}`,
        execute: () => void navigate(link),
      }),
    ),
  )
  const of_page = pageCommands().map(
    ({ label, icon, start }): Command => ({ id: `here-${label}`, icon, text: label, execute: start }),
  )
  const actions: Command[] = [
    ...(may_start
      ? [
          {
            id: 'new-run',
            icon: <Plus />,
            text: 'New run',
            keys: 'c',
            execute: () => void navigate({ to: '/new', search: {} }),
          },
        ]
      : []),
    { id: 'theme-light', icon: <Sun />, text: 'Light theme', execute: () => chooseTheme('light') },
    { id: 'theme-dark', icon: <Moon />, text: 'Dark theme', execute: () => chooseTheme('dark') },
    {
      id: 'theme-system',
      icon: <Monitor />,
      text: "The system's theme",
      execute: () => chooseTheme('system'),
    },
    { id: 'keys', icon: <Keyboard />, text: 'Keyboard shortcuts', keys: '?', execute: on_keys },
    { id: 'sign-out', icon: <LogOut />, text: 'Sign out', execute: () => void signOut() },
  ]
  const of_runs = runs.map(
    (run): Command => ({
      id: `run-${run.id}`,
      icon: <SquareTerminal />,
      text: visible(run.title),
      note: `#${run.id} · ${run.status}${run.status_reason === null ? '' : ` (${reasonNames[run.status_reason]})`}`,
      execute: () => void navigate({ to: '/agent/trace/$id', params: { id: String(run.id) } }),
    }),
  )
  const of_repositories = repositories.map(
    ({ id, full_name }): Command => ({
      id: `repository-${id}`,
      icon: <FolderGit2 />,
      text: visible(full_name),
      execute: () => void navigate({ to: '/repositories/$repoId', params: { repoId: String(id) } }),
    }),
  )
  const groups = [
    { title: 'This run', commands: found(of_page) },
    { title: 'Pages', commands: found(text === '' ? pages : [...pages, ...settings]) },
    { title: 'Actions', commands: found(actions) },
    { title: text === '' ? 'Latest runs' : 'Runs', commands: of_runs },
    { title: 'Repositories', commands: text === '' ? [] : found(of_repositories).slice(0, MAX_REPOSITORIES) },
  ]
  // A number or a title is meant more often than a page, unless a page or an action matches too.
  const ordered = text === '' ? [groups[0], groups[3], groups[1], groups[2]] : groups
  return ordered.filter(group => group !== undefined && group.commands.length > 0) as {
    title: string
    commands: Command[]
  }[]
}
