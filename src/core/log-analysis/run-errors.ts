import { textOf } from './commands.ts'
import type { Entry, Finding } from './finding.ts'
import { finding } from './finding.ts'
import { matchLine, worded } from './match-signatures.ts'

type Said = { title: string; mend: string }

/** What the service itself says of a run by the code of an ERROR entry. */
const KNOWN: Record<string, Said> = {
  setup_command_failed: { title: 'The setup failed', mend: 'Mend the setup commands of the repository: the failing one stands above.' },
  script_failed: { title: 'A step of the script went otherwise than it says', mend: 'Mend what the step does, or what it expects.' },
  setup_timeout: { title: 'The setup took too long', mend: 'Have it do less, or raise its time-out.' },
  clone_failed: { title: 'The files could not be laid out', mend: 'Look at the clone in the entries before.' },
  repository_removed: { title: 'The repository is gone', mend: 'Register it again, or make a run in another one.' },
  empty_repository: { title: 'The repository is empty', mend: 'Push a first commit.' },
  base_commit_gone: { title: 'The base commit is gone', mend: 'Make a new run: its branch was written anew.' },
  auth: { title: 'The remote of the repository refuses the service', mend: 'Give the service credentials for it that work.' },
  unreachable: { title: 'The remote of the repository is out of reach', mend: 'Check its address and the network of the service.' },
  not_found: { title: 'The remote has no such repository', mend: 'Check its address, and the rights of the credentials.' },
  fetch_timeout: { title: 'The fetch took too long', mend: 'Try again; a large repository needs a longer time-out.' },
  model_not_configured: { title: 'The model is not configured', mend: 'Choose another model, or configure this one.' },
  model_auth: { title: 'The provider of the model refuses its key', mend: 'Give the service a key that is good.' },
  auth_failed: { title: 'The provider of the model refuses its key', mend: 'Give the service a key that is good.' },
  rate_limit: { title: 'The provider of the model wants fewer requests', mend: 'Wait, or raise the limit with the provider.' },
  overloaded: { title: 'The provider of the model is overloaded', mend: 'Resume the run later, or choose another model.' },
  deadline_exceeded: { title: 'The run reached its deadline', mend: 'Raise its budget of time, or ask for less at once.' },
  queue_timeout: { title: 'No worker took the run', mend: 'Start more workers, or let them do more at once.' },
  answer_timeout: { title: 'Nobody answered the question', mend: 'Resume the run with the answer.' },
  lost: { title: 'The workers of the run died', mend: 'Look at the log of the service for why; resume the run to go on.' },
  sandbox_failed: {
    title: 'The sandbox could not be started, or ended by itself',
    mend: 'Look at the health of the service: its self-test names the reason.',
  },
  sandbox_lost: { title: 'The sandbox was lost', mend: 'Resume the run; look at the memory of the machine if it comes again.' },
  disk_full: { title: 'The disk of the workspaces is full', mend: 'Make space on the machine, or raise what runs may not fill.' },
  disk_quota: { title: 'The workspace holds more than it may', mend: 'Remove what is not needed in it, or raise the limit.' },
  commit_failed: { title: 'The commit failed', mend: 'Look at what git says: a hook may refuse it.' },
  secret_in_commit: {
    title: 'A secret stands in a commit',
    mend: 'Take it out of the files and of the commits, and replace it where it is used.',
  },
  change_too_large: { title: 'The change is too large', mend: 'Leave generated files out of it, or split it.' },
  repeated_call: { title: 'The agent went round in a circle', mend: 'Say in a follow-up what it is to do instead.' },
  canary_seen: { title: 'A value that must not be seen was met', mend: 'Look at where it was met; replace the secrets that the run had.' },
}

const BESIDES_A_TOOL = ['tool', 'checkpoint']

/** What an ERROR entry says that is not said by the tool it came with. Null: nothing. */
export function runError(entry: Entry): Finding | null {
  const said = entry.observation
  if (entry.message_type !== 'ERROR' || said === null || typeof said === 'string') return null
  const [code, message, phase] = [textOf(said.code) ?? 'error', textOf(said.message) ?? '', textOf(said.phase) ?? '']
  if (BESIDES_A_TOOL.includes(phase) && code !== 'repeated_call') return null
  const again = said.attempt !== undefined || said.retry_in_ms !== undefined
  const known = KNOWN[code]
  const match = message
    .split('\n')
    .map(line => matchLine(line.slice(0, 1_000)))
    .find(one => one !== null)
  return finding({
    code: `run_${code}`,
    severity: again ? 'warning' : 'error',
    message: known?.title ?? `The run says ${code}`,
    cause: match && !known ? worded(match.signature.cause, match.caught) : message.slice(0, 1_000) || null,
    mend: known?.mend ?? (match ? worded(match.signature.mend, match.caught) : null),
    excerpt: message.slice(0, 1_000) || null,
    agent_run_id: entry.agent_run_id,
    seq: entry.seq,
  })
}
