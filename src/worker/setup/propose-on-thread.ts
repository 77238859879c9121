import { createThreads } from '../../html/on-thread.ts'
import type { Proposal, Toolchain } from '../../setup-detection/proposal.ts'
import { propose } from '../../setup-detection/propose.ts'
import type { Tree } from '../../setup-detection/tree.ts'

/** Far more than large repositories cost. */
const TIMEOUT_MS = 20_000

type Input = { tree: Tree; toolchain: Toolchain }

const onThread = createThreads<Input, Proposal>(new URL('./proposal-thread.ts', import.meta.url), {
  max_threads: 1,
  timeout_ms: TIMEOUT_MS,
})

/**
 * Returns what `propose` does, without occupying the event loop: a hundred files of 64 KiB, written for that,
 * cost parsers of YAML and TOML many seconds. Files that take too long count as missing. Rejects with the
 * reason of `signal`.
 */
export async function proposeOnThread(input: Input, signal: AbortSignal): Promise<Proposal> {
  return (await onThread(input, signal)) ?? withoutFiles(input.toolchain)
}

function withoutFiles(toolchain: Toolchain): Proposal {
  const proposal = propose({ paths: [], files: new Map() }, toolchain)
  return { ...proposal, notes: ['The files that describe the setup take too long to read.'] }
}
