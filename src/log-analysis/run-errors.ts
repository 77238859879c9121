import { textOf } from './commands.ts'
import { type Entry, type Finding, finding } from './finding.ts'
import { type Match, matchLine, worded } from './match-signatures.ts'

type Explanation = [title: string, remedy: string]

const KEY_REFUSED: Explanation = [
  'The provider of the model refuses its key',
  'Give the service a key that is good.',
]

/** The service's own explanations, by the code of an ERROR entry. */
const KNOWN: Record<string, Explanation> = {
  setup_command_failed: [
    'The setup failed',
    'Fix the setup commands of the repository: the failing one is in the entries before.',
  ],
  script_failed: [
    'A step of the script had an unexpected result',
    'Fix the command of the step, or its expectation.',
  ],
  setup_timeout: ['The setup took too long', 'Have it do less, or raise its time-out.'],
  clone_failed: ['The workspace could not be populated', 'Check the clone in the entries before.'],
  repository_removed: ['The repository is gone', 'Register it again, or create a run in another one.'],
  empty_repository: ['The repository is empty', 'Push a first commit.'],
  base_commit_gone: ['The base commit is gone', 'Create a new run: the branch was rewritten.'],
  auth: [
    'The remote of the repository refuses the service',
    'Give the service credentials for it that work.',
  ],
  unreachable: [
    'The remote of the repository is out of reach',
    'Check its address and the network of the service.',
  ],
  not_found: ['The remote has no such repository', 'Check its address, and the rights of the credentials.'],
  fetch_timeout: ['The fetch took too long', 'Try again; a large repository needs a longer time-out.'],
  model_not_configured: ['The model is not configured', 'Choose another model, or configure this one.'],
  model_auth: KEY_REFUSED,
  auth_failed: KEY_REFUSED,
  rate_limit: [
    'The provider of the model limits its requests',
    'Wait, or raise the limit with the provider.',
  ],
  overloaded: ['The provider of the model is overloaded', 'Resume the run later, or choose another model.'],
  deadline_exceeded: ['The run reached its deadline', 'Raise its time budget, or request less at once.'],
  queue_timeout: ['No worker took the run', 'Start more workers, or let them do more at once.'],
  answer_timeout: ['Nobody answered the question', 'Resume the run with the answer.'],
  lost: [
    'The workers of the run died',
    'Check the log of the service for the reason; resume the run to continue.',
  ],
  worker_stalled: [
    'The service stopped responding while it worked on the run',
    'Check what the run printed last; resume it with other instructions.',
  ],
  sandbox_failed: [
    'The sandbox could not be started, or ended by itself',
    'Check the health of the service: its self-test names the reason.',
  ],
  sandbox_lost: [
    'The sandbox was lost',
    'The run continues automatically up to three times in a turn; then resume it, and check the memory of the machine if it happens again.',
  ],
  git_killed: [
    'Git was killed',
    'The run continues automatically up to three times in a turn; check the memory of the machine, and resume the run if it failed.',
  ],
  agent_killed: [
    'The program of the agent was killed',
    'The run continues automatically up to three times in a turn; check the memory of the sandbox, and resume the run if it failed.',
  ],
  disk_full: [
    'The disk of the workspaces is full',
    'Make space on the machine, or raise what runs may not fill.',
  ],
  disk_quota: ['The workspace exceeds its limit', 'Remove what is not needed in it, or raise the limit.'],
  commit_failed: ['The commit failed', 'Check the output of git: a hook may reject it.'],
  secret_in_commit: [
    'A commit contains a secret',
    'Take it out of the files and of the commits, and replace it where it is used.',
  ],
  change_too_large: ['The change is too large', 'Leave generated files out of it, or split it.'],
  repeated_call: ['The agent went round in a circle', 'Send a follow-up with other instructions.'],
  canary_seen: [
    'A value that must not be seen was met',
    'Check where it was found; replace the secrets of the run.',
  ],
}

const MESSAGE_CHARACTERS = 1_000

const REPORTED_BY_TOOL = ['tool', 'checkpoint']

/** Returns the finding of an ERROR entry, or null if its tool reports it already. */
export function runError(entry: Entry): Finding | null {
  const details = entry.observation
  if (entry.message_type !== 'ERROR' || details === null || typeof details === 'string') return null
  const [code, message, phase] = [
    textOf(details.code) ?? 'error',
    textOf(details.message) ?? '',
    textOf(details.phase) ?? '',
  ]
  if (REPORTED_BY_TOOL.includes(phase) && code !== 'repeated_call') return null
  const again = details.attempt !== undefined || details.retry_in_ms !== undefined
  const known = KNOWN[code]
  const match = known ? null : matchIn(message)
  const excerpt = message.slice(0, MESSAGE_CHARACTERS) || null
  return finding({
    code: `run_${code}`,
    severity: again ? 'warning' : 'error',
    message: known?.[0] ?? `The run reports ${code}`,
    cause: match ? worded(match.signature.cause, match.caught) : excerpt,
    mend: known?.[1] ?? (match && worded(match.signature.remedy, match.caught)),
    excerpt,
    agent_run_id: entry.agent_run_id,
    seq: entry.seq,
  })
}

/** Returns the match of the first line that has any. */
function matchIn(message: string): Match | null {
  for (const line of message.split('\n')) {
    const match = matchLine(line.slice(0, MESSAGE_CHARACTERS))
    if (match !== null) return match
  }
  return null
}
