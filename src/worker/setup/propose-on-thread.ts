import type { Log } from '../../core/log.ts'
import { createThreads } from '../../html/on-thread.ts'
import type { Proposal, Toolchain } from '../../setup-detection/proposal.ts'
import { propose } from '../../setup-detection/propose.ts'
import type { Tree } from '../../setup-detection/tree.ts'

/** Far more than large repositories cost. */
const TIMEOUT_MS = 10_000
const MAX_THREADS = 4

type Input = { tree: Tree; toolchain: Toolchain }

const onThread = createThreads<Input, Proposal>(new URL('./proposal-thread.ts', import.meta.url), {
  max_threads: MAX_THREADS,
  timeout_ms: TIMEOUT_MS,
})

const NOTES = {
  timeout: 'The files that describe the setup take too long to read.',
  memory: 'The files that describe the setup need too much memory to read.',
  error: 'The files that describe the setup could not be read, because the service failed; its log says why.',
}

/**
 * Returns what `propose` does, without occupying the event loop: a hundred files of 64 KiB, written for
 * that, cost parsers of YAML and TOML many seconds. Without a result they count as missing, and a note has
 * the reason. Rejects with the reason of `signal`.
 */
export async function proposeOnThread(
  input: Input,
  { organization_id, log, signal }: { organization_id: number; log: Log; signal: AbortSignal },
): Promise<Proposal> {
  const end = await onThread(input, organization_id, signal)
  if (end.ok) return end.value
  const { why, error } = end
  log(why === 'error' ? 'error' : 'warn', 'setup commands could not be proposed', { why, error })
  const proposal = propose({ paths: [], files: new Map() }, input.toolchain)
  return { ...proposal, notes: [NOTES[why]] }
}
