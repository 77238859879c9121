import {
  Ban,
  BookText,
  Bot,
  CircleAlert,
  CircleHelp,
  FileText,
  FoldVertical,
  GitBranch,
  GitPullRequest,
  Link2,
  ListChecks,
  PencilLine,
  Scale,
  Search,
  SquareTerminal,
  Stethoscope,
  User,
  Wrench,
} from 'lucide-react'
import type { EntryKind } from '../../trace/summary-types.ts'

const icons: Record<EntryKind, typeof Wrench> = {
  shell: SquareTerminal,
  read: FileText,
  write: PencilLine,
  edit: PencilLine,
  search: Search,
  git: GitBranch,
  instructions: BookText,
  question: CircleHelp,
  egress: Ban,
  analysis: Stethoscope,
  compaction: FoldVertical,
  tool: Wrench,
  plan: ListChecks,
  error: CircleAlert,
  user: User,
  answer: Bot,
  pull_request: GitPullRequest,
  evaluation: Scale,
  link: Link2,
}

export function EntryIcon({ kind, className = '' }: { kind: EntryKind; className?: string }) {
  const Icon = icons[kind]
  return <Icon aria-hidden className={`size-4 shrink-0 ${className}`} />
}
