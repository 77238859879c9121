import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { FolderGit2, Keyboard, LogOut, type LucideIcon, Monitor, Moon, Plus, SquareTerminal, Sun } from 'lucide-react'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { repositoriesQuery } from '../../api/queries.ts'
import { visible } from '../../text/visible.ts'
import { useReadOnlyReason } from '../permission.ts'
import { chooseTheme } from '../theme.ts'
import { all_navigation } from './navigation.ts'
import { useSignOut } from './use-sign-out.ts'

export type Command = { id: string; Icon: LucideIcon; text: string; note?: string; keys?: string; execute: () => void }

const MAX_REPOSITORIES = 5

/** Whether each word of the search begins a word of the text. */
const matches = (text: string, search: string) => {
  const words = text.toLowerCase().split(/[^\p{L}\p{N}]+/u)
  return search
    .toLowerCase()
    .split(/\s+/)
    .every(part => words.some(word => word.startsWith(part)) || text.toLowerCase().includes(part))
}

/** What the command menu offers for a text, in groups. `runs`: what the service found. */
export function useCommands(text: string, runs: AgentRun[], on_keys: () => void): { title: string; commands: Command[] }[] {
  const navigate = useNavigate()
  const signOut = useSignOut()
  const may_start = useReadOnlyReason() === null
  const repositories = useQuery(repositoriesQuery).data ?? []
  const found = (commands: Command[]) => commands.filter(command => text === '' || matches(command.text, text))

  const pages = all_navigation.map(
    ({ name, Icon, key, link }): Command => ({ id: `page-${key}`, Icon, text: name, keys: `g ${key}`, execute: () => void navigate(link) }),
  )
  const actions: Command[] = [
    ...(may_start
      ? [{ id: 'new-run', Icon: Plus, text: 'New run', keys: 'c', execute: () => void navigate({ to: '/new', search: {} }) }]
      : []),
    { id: 'theme-light', Icon: Sun, text: 'Light theme', execute: () => chooseTheme('light') },
    { id: 'theme-dark', Icon: Moon, text: 'Dark theme', execute: () => chooseTheme('dark') },
    { id: 'theme-system', Icon: Monitor, text: "The system's theme", execute: () => chooseTheme('system') },
    { id: 'keys', Icon: Keyboard, text: 'Keyboard shortcuts', keys: '?', execute: on_keys },
    { id: 'sign-out', Icon: LogOut, text: 'Sign out', execute: () => void signOut() },
  ]
  const of_runs = runs.map(
    (run): Command => ({
      id: `run-${run.id}`,
      Icon: SquareTerminal,
      text: visible(run.title),
      note: `#${run.id} · ${run.status}`,
      execute: () => void navigate({ to: '/agent/trace/$id', params: { id: String(run.id) } }),
    }),
  )
  const of_repositories = repositories.map(
    ({ id, full_name }): Command => ({
      id: `repository-${id}`,
      Icon: FolderGit2,
      text: visible(full_name),
      execute: () => void navigate({ to: '/repositories/$repoId', params: { repoId: String(id) } }),
    }),
  )
  const groups = [
    { title: 'Pages', commands: found(pages) },
    { title: 'Actions', commands: found(actions) },
    { title: text === '' ? 'Latest runs' : 'Runs', commands: of_runs },
    { title: 'Repositories', commands: text === '' ? [] : found(of_repositories).slice(0, MAX_REPOSITORIES) },
  ]
  // A number or a title is meant more often than a page, unless a page or an action matches too.
  const ordered = text === '' ? [groups[2], groups[0], groups[1]] : groups
  return ordered.filter(group => group !== undefined && group.commands.length > 0) as { title: string; commands: Command[] }[]
}
