import type { RunFile, RunFileQuery, RunFiles, RunFilesQuery } from '../../contract/runs/run-files.ts'
import { invalid, ServiceError } from '../../core/service-error.ts'
import { fileText } from '../../core/text/file-text.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import type { CheckpointRow } from '../../store/workspaces/checkpoints.ts'
import type { Context, PathProblem } from '../context.ts'
import { filesRedactor, filesUnavailable, newestFiles, requireFilesAt } from './kept-files.ts'
import { requireRun } from './runs.ts'

const MAX_TEXT_BYTES = 1024 ** 2
const MAX_DOWNLOAD_BYTES = 16 * 1024 ** 2

/**
 * Returns one page of a folder of a run's files, or of the paths below it with a text. Throws 404 when the
 * run is not in this organization or has no such folder, 400 for an entry that does not exist or a file, 409
 * when the files are not kept, 503 while they are unavailable.
 */
export async function listRunFiles(ctx: Context, run_id: number, query: RunFilesQuery): Promise<RunFiles> {
  const { run, seq, kept } = await filesOf(ctx, run_id, query.seq)
  const { path, q, skip = 0, limit } = query
  const tree = treeOf(run, kept)
  const left_out = kept?.left_out ?? []
  const listed = tree && (await ctx.files.list(run, tree, { path, q, skip, limit }).catch(filesUnavailable))
  const found =
    tree === null && path === ''
      ? { items: [], total: 0, complete: true }
      : requireFound(listed, tree !== null, seq)
  return {
    agent_run_id: run.id,
    seq,
    ...(await (await filesRedactor(ctx, run)).value({ path, ...found, left_out })),
  }
}

/** Returns the text of a file of a run, of a large file its beginning. Errors as of `listRunFiles`. */
export async function getRunFile(ctx: Context, run_id: number, query: RunFileQuery): Promise<RunFile> {
  const { run, seq, file } = await readFile(ctx, run_id, query, MAX_TEXT_BYTES)
  const { bytes, ...entry } = file
  const truncated = bytes !== null && bytes.length < (entry.size ?? 0)
  const decoded = bytes && fileText(bytes, truncated)
  const redactor = await filesRedactor(ctx, run)
  const stream = redactor.stream()
  // What may be the beginning of a secret at the end of a truncated text is not shown.
  const shown = decoded === null ? null : await stream.push(decoded.text)
  const text = shown === null || truncated ? shown : shown + (await stream.end())
  return {
    agent_run_id: run.id,
    seq,
    ...(await redactor.value(entry)),
    binary: bytes !== null && decoded === null,
    encoding: decoded?.encoding ?? null,
    text,
    text_truncated: text !== null && truncated,
  }
}

/**
 * Returns the bytes of a file of a run without secrets, and its name. Errors as of `listRunFiles`, 409 also
 * for a file that is too large.
 */
export async function getRunFileContent(
  ctx: Context,
  run_id: number,
  query: RunFileQuery,
): Promise<{ content: Buffer; file_name: string }> {
  const { run, file } = await readFile(ctx, run_id, query, MAX_DOWNLOAD_BYTES)
  if (file.bytes === null) throw invalid(['query', 'path'], `is a ${file.kind}, which has no content`)
  if ((file.size ?? 0) > MAX_DOWNLOAD_BYTES)
    throw new ServiceError(
      'conflict',
      `The file has ${file.size} bytes; at most ${MAX_DOWNLOAD_BYTES} can be downloaded.`,
    )
  const redactor = await filesRedactor(ctx, run)
  const bytes = await redactor.bytes(file.bytes)
  const { path } = await redactor.value({ path: file.path })
  return {
    content: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    file_name: path.slice(path.lastIndexOf('/') + 1),
  }
}

async function readFile(ctx: Context, run_id: number, query: RunFileQuery, max_bytes: number) {
  const { run, seq, kept } = await filesOf(ctx, run_id, query.seq)
  const tree = treeOf(run, kept)
  const found = tree && (await ctx.files.read(run, tree, query.path, max_bytes).catch(filesUnavailable))
  return { run, seq, file: requireFound(found, tree !== null, seq) }
}

/** `kept`: null when nothing has changed the files of the base commit. */
async function filesOf(ctx: Context, run_id: number, requested: number | undefined) {
  const run = await requireRun(ctx.db, ctx.organization_id, run_id)
  if (requested !== undefined && requested > run.total_logs)
    throw invalid(['query', 'seq'], `must not be more than ${run.total_logs}, the last entry of the run`)
  const seq = requested ?? (await newestFiles(ctx.db, run)) ?? 0
  return { run, seq, kept: await requireFilesAt(ctx.db, run, seq, false) }
}

/** Returns null for a run without a repository that has not started. */
function treeOf(run: RunRow, kept: CheckpointRow | null): Parameters<Context['files']['list']>[1] | null {
  if (kept !== null) return { packs: kept.packs, base_sha: kept.base_sha, root: kept.tree }
  return run.base_sha === null ? null : { packs: 0, base_sha: run.base_sha, root: run.base_sha }
}

function requireFound<T extends object>(
  found: T | null,
  has_tree: boolean,
  seq: number,
): Exclude<T, PathProblem> {
  if (found === null && has_tree)
    throw new ServiceError('conflict', `The files of the run after entry ${seq} are no longer available.`)
  if (found === null) throw new ServiceError('conflict', 'The run has no files yet.')
  if (!isProblem(found)) return found as Exclude<T, PathProblem>
  if (found.problem === 'missing')
    throw new ServiceError('not_found', `The run has nothing at this path after entry ${seq}.`)
  throw invalid(['query', 'path'], found.problem === 'is_folder' ? 'is a folder' : 'is not a folder')
}

const isProblem = (found: object): found is PathProblem => 'problem' in found
