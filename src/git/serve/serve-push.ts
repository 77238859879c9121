import { readStart } from '../../system/read-exactly.ts'
import type { GitRepository } from '../git-repository.ts'
import { mirrorRefs } from '../mirrors/mirror-refs.ts'
import { refreshMirror, refreshMirrorNow } from '../mirrors/mirrors.ts'
import {
  checkLinked,
  indexArguments,
  indexSeconds,
  type Quarantine,
  readQuarantine,
  refusedObjects,
  withQuarantine,
} from '../objects/quarantine.ts'
import { checkBounds } from '../objects/quarantine-bounds.ts'
import { GitError } from '../process/git-error.ts'
import { type GitHost, mirrorPath } from '../process/git-host.ts'
import { FLUSH, pktLine } from '../process/pkt-line.ts'
import { runGit } from '../process/run-git.ts'
import { pushCommands } from '../publish/push.ts'
import {
  NO_COMMIT,
  type PushRequest,
  type RefCommand,
  readCommands,
  refusedRef,
} from '../publish/receive-commands.ts'
import type { Upload } from './uploads.ts'

const CAPABILITIES =
  'report-status side-band-64k delete-refs quiet atomic ofs-delta object-format=sha1 agent=agentrun'
/** The list of refs comes before the pack, and is read at once. */
export const HEAD_BYTES = 512 * 1024
const REFRESH_WAIT_MS = 30_000
const INDEX_MS = 15 * 60_000

/**
 * The result of a push: `unpack` and `refused` are null for success, `hook_output` is the output of the
 * repository's own hooks.
 */
export type ReceivedPush = {
  capabilities: Set<string>
  commands: RefCommand[]
  unpack: string | null
  refused: Map<string, string | null>
  hook_output: string
}

/** Returns the ref advertisement for a push: where all branches and tags are now. GitError. */
export async function offerPush(host: GitHost, repo: GitRepository): Promise<Buffer> {
  await refreshMirror(host, repo, { wait_ms: REFRESH_WAIT_MS })
  const refs = [...((await mirrorRefs(host, repo.id)) ?? new Map<string, string>())]
  const lines = refs.length === 0 ? [[`capabilities^{}`, NO_COMMIT] as const] : refs
  const advertised = lines.map(([name, sha], n) =>
    pktLine(`${sha} ${name}${n === 0 ? `\0${CAPABILITIES}` : ''}\n`),
  )
  return Buffer.concat([pktLine('# service=git-receive-pack\n'), FLUSH, ...advertised, FLUSH])
}

/**
 * Receives a push of a person: its objects are checked in quarantine, and valid ones are pushed to the
 * repository itself, whose result is the result. Until then nothing has changed anywhere; afterwards the
 * mirror has what was pushed. Problems of the push are in the result; rejects with GitError when the request
 * is not a push, and with the reason of `signal`, which stops it only before it is forwarded.
 */
export async function receivePush(
  host: GitHost,
  repo: GitRepository,
  upload: Upload,
  signal: AbortSignal,
): Promise<ReceivedPush> {
  const { commands, capabilities, rest } = await readHead(upload.path)
  const refused = new Map(commands.map(command => [command.ref, refusedRef(command, commands)]))
  const received: ReceivedPush = { capabilities, commands, unpack: null, refused, hook_output: '' }
  if (commands.length === 0) return received
  const atomic = capabilities.has('atomic')
  const good = commands.filter(({ ref }) => refused.get(ref) === null)
  if (atomic && good.length < commands.length) refuse(received, good, 'atomic push failed')
  const wanted = good.filter(({ ref }) => refused.get(ref) === null)
  await withQuarantine(host, { git_dir: mirrorPath(host, repo.id) }, async quarantine => {
    try {
      if (commands.some(({ to }) => to !== NO_COMMIT))
        await takePack(host, quarantine, { upload, behind: rest }, signal)
      const shas = wanted.flatMap(({ to }) => (to === NO_COMMIT ? [] : [to]))
      if (shas.length > 0) {
        await readQuarantine(host, quarantine, reader => checkBounds(host, quarantine, reader, shas), signal)
        await checkLinked(host, quarantine, shas, signal)
      }
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      received.unpack = error.message
      refuse(received, wanted, 'unpacker error')
      return
    }
    signal.throwIfAborted()
    if (wanted.length > 0) await passOn(host, repo, quarantine, received, { wanted, atomic })
  })
  return received
}

/** Forwards the accepted commands to the repository, and records its results in `received`. */
async function passOn(
  host: GitHost,
  repo: GitRepository,
  { call }: Quarantine,
  received: ReceivedPush,
  { wanted, atomic }: { wanted: RefCommand[]; atomic: boolean },
): Promise<void> {
  try {
    const { refused, hook_output } = await pushCommands(host, repo, wanted, { atomic, env: call.env })
    for (const [ref, why] of refused) received.refused.set(ref, why)
    received.hook_output = hook_output
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    refuse(received, wanted, error.message)
  }
  // A running refresh may have read the remote before the push. A failed refresh does not undo the push.
  await refreshMirrorNow(host, repo, { wait_ms: REFRESH_WAIT_MS }).catch(() => {})
}

function refuse(received: ReceivedPush, commands: RefCommand[], why: string): void {
  for (const { ref } of commands) received.refused.set(ref, why)
}

/** Returns the list of refs, and where the pack begins. */
async function readHead(path: string): Promise<PushRequest> {
  const request = readCommands(await readStart(path, HEAD_BYTES))
  if (request === 'more') throw new GitError('failed', 'this is not a push of git')
  if ('problem' in request) throw new GitError('failed', request.problem)
  return request
}

async function takePack(
  host: GitHost,
  { call }: Quarantine,
  { upload, behind }: { upload: Upload; behind: number },
  signal: AbortSignal,
): Promise<void> {
  if (!upload.is_whole) throw refusedObjects('pack exceeds maximum allowed size')
  const indexed = await runGit(host, {
    ...call,
    args: indexArguments(host.max_push_bytes),
    stdin: { path: upload.path, behind },
    cpu_seconds: indexSeconds(upload.bytes - behind),
    timeout_ms: INDEX_MS,
    signal,
  })
  if (indexed.exit_code !== 0) throw refusedObjects(indexed.stderr)
}
