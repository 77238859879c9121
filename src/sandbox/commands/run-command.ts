import { settledWithin } from '../../core/timeout.ts'
import type { InitProcess } from '../init-process.ts'
import { type ExecRequest, type ExecResult, SandboxLostError, type WorkspaceSize } from '../port.ts'
import { deliverInOrder, type Sink } from './deliver-in-order.ts'
import { keepHeadAndTail } from './output.ts'
import type { PipeFolder, Slot } from './pipe-folder.ts'
import { type PipeReader, readPipe } from './pipe-reader.ts'
import type { StatusPipe } from './status-pipe.ts'

/** `exit_code` is null when the process that reports it was killed. */
export type CommandEnd = { exit_code: number | null; shell_ended: boolean }

/** A command that process 1 or the shell is running. */
export type RunningCommand = {
  /** The name by which process 1 kills it. */
  job: string
  finished: Promise<CommandEnd>
  /** Called after the command was killed. */
  wasKilled(): void
  /** The pipe that reports the end, if it belongs to the command alone. */
  status?: StatusPipe
  /** A process that it left behind may read the input of the slot: no other command gets that. */
  single_use?: boolean
  /** What it started ends with it, however it ends. */
  kills_descendants?: boolean
}

/** `full`: aborted, with the size of the workspace, when that exceeds its limit. */
type CommandContext = { init: InitProcess; pipes: PipeFolder; full(): AbortSignal }
export type CommandRequest = Omit<ExecRequest, 'shell'>

/**
 * Once a command has ended, processes that have its output open get this long to end too. Only then is there
 * a wait at all.
 */
const settle_ms = 10
/** The timeout for the report of the end after a kill. */
const kill_settle_ms = 1_000
const min_output_limit = 16 * 1024 * 1024

/**
 * Runs one command in its own slot until its end: exit, timeout, abort or output limit. `start` is called
 * when the pipes are open. With `sink`, standard output goes there and only standard error is kept; an error
 * of the sink kills the command and is thrown.
 */
export async function runCommand(
  { init, pipes, full }: CommandContext,
  request: CommandRequest,
  start: (slot: Slot) => RunningCommand | Promise<RunningCommand>,
  sink?: Sink,
): Promise<ExecResult> {
  const full_now = full()
  const watch = watchStopReasons(request, init.lost, full_now)
  try {
    const kept = keepHeadAndTail(request.max_output_bytes, request.on_output)
    const keep = (chunk: Uint8Array) => {
      kept.add(chunk)
      if (kept.total >= Math.max(min_output_limit, 64 * request.max_output_bytes))
        watch.giveUp('output_limit')
    }
    const delivery = sink && deliverInOrder(sink, () => watch.giveUp('interrupted'))
    const slot = await fillSlot(init, pipes, request)
    const readers: PipeReader[] = [readPipe(slot.path('output'), delivery ? delivery.add : keep)]
    if (delivery) readers.push(readPipe(slot.path('errors'), keep))

    const started_at = performance.now()
    const kills_before = init.usage().memory_kills
    const running = await start(slot)
    if (running.status) readers.push(running.status)
    const end = await Promise.race([running.finished, watch.reason])
    const reason = typeof end === 'string' ? end : null
    const exit_code = typeof end === 'string' ? null : end.exit_code
    // Also when only the process that watched it was killed from inside.
    const is_killed = exit_code === null && reason !== 'lost'
    if (is_killed || (running.kills_descendants && reason !== 'lost'))
      await init.kill(running.job, started_at)
    if (is_killed) {
      await settledWithin(running.finished, kill_settle_ms)
      running.wasKilled()
    }
    if (init.lost.aborted || reason === 'lost') throw await lossOf(init, kills_before)
    const duration_ms = performance.now() - started_at
    if (request.stdin) await pipes.writeInput(slot, '')
    await release(pipes, slot, readers, running.single_use)
    await delivery?.done()
    await init.refreshUsage()
    return {
      status: reason ?? 'exited',
      exit_code: reason ? null : (exit_code ?? 137),
      ...kept.take(),
      output_bytes: kept.total,
      duration_ms,
      size: reason === 'disk_limit' ? (full_now.reason as WorkspaceSize) : null,
      memory_kills: init.usage().memory_kills - kills_before,
      shell_restarted: running.job === 'shell' && (typeof end === 'string' || end.shell_ended),
    }
  } finally {
    watch.stop()
  }
}

async function lossOf(init: InitProcess, kills_before: number): Promise<SandboxLostError> {
  const why = await init.complaint()
  const out_of_memory = init.usage().memory_kills > kills_before || /OOMKilled/.test(why)
  return new SandboxLostError(`the sandbox ended while a command ran in it${why && `: ${why}`}`, {
    out_of_memory,
  })
}

async function fillSlot(init: InitProcess, pipes: PipeFolder, request: CommandRequest): Promise<Slot> {
  try {
    const slot = await pipes.takeSlot()
    await pipes.writeCommand(slot, request.command)
    if (request.stdin) await pipes.writeInput(slot, request.stdin)
    return slot
  } catch (error) {
    // For example the disk of the host is full: nothing can run in this sandbox.
    await init.stop()
    throw new SandboxLostError('a command could not be handed to the sandbox', { cause: error })
  }
}

/**
 * Reads the rest of the pipes, and returns the slot as soon as nothing inside has one of them open; one for a
 * `single_use` is removed.
 */
async function release(
  pipes: PipeFolder,
  slot: Slot,
  readers: PipeReader[],
  single_use = false,
): Promise<void> {
  const drain = () => readers.map(reader => reader.drain()).every(over => over)
  const ended = Promise.all(readers.map(reader => reader.ended))
  if (!drain()) {
    await settledWithin(ended, settle_ms)
    if (!drain() && !single_use) {
      for (const reader of readers) reader.discard()
      pipes.leaveOpen(slot, readers)
      return
    }
  }
  for (const reader of readers) reader.close()
  if (single_use) pipes.removeSlot(slot)
  else pipes.giveBack(slot)
}

const longest_timeout_ms = 2 ** 31 - 1

type StopReason = 'timeout' | 'interrupted' | 'output_limit' | 'disk_limit' | 'lost'

/** Resolves with the first event that stops a command which does not end by itself. */
function watchStopReasons(
  { timeout_ms, signal }: Pick<ExecRequest, 'timeout_ms' | 'signal'>,
  lost: AbortSignal,
  full: AbortSignal,
) {
  const { promise: reason, resolve: giveUp } = Promise.withResolvers<StopReason>()
  const over = new AbortController()
  const timer = setTimeout(() => giveUp('timeout'), Math.min(timeout_ms, longest_timeout_ms))
  const on = (source: AbortSignal | undefined, why: StopReason) => {
    if (source?.aborted) giveUp(why)
    else source?.addEventListener('abort', () => giveUp(why), { signal: over.signal })
  }
  on(lost, 'lost')
  on(full, 'disk_limit')
  on(signal, 'interrupted')
  const stop = () => {
    clearTimeout(timer)
    over.abort()
  }
  return { reason, giveUp, stop }
}
