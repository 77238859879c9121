import { actionTool } from '../../contract/runs/action-tools.ts'
import { yieldToOthers } from '../../core/yield-to-others.ts'
import { copyMode, fileIds, readFile, removeFiles, SandboxFileError, writeFile } from '../../sandbox/files.ts'
import { type AppliedHunks, applyHunks } from '../edits/apply-hunks.ts'
import { bytesAsText, excerpt, readable, textAsBytes } from '../edits/excerpt.ts'
import { nearestLines } from '../edits/nearest-lines.ts'
import { type FilePatch, PatchError, parsePatch } from '../edits/patch-format.ts'
import { failed, type Tool, type ToolContext, type ToolOutcome } from '../tool.ts'
import { workspacePath } from '../workspace-path.ts'
import { FILE_BYTES, placeholderWritten } from './files.ts'

type ChangedFile = { change: 'added' | 'updated' | 'deleted' | 'moved'; path: string; from?: string }
/** Contents by normalized path, as they are and as the patch leaves them; null: there is no such file. */
type Files = {
  before: Map<string, Buffer | null>
  after: Map<string, Buffer | null>
  moves: { from: string; to: string }[]
}
type Update = Extract<FilePatch, { kind: 'update' }>

/** Ends the work on a patch before anything is written. */
class PatchRefusal extends Error {
  readonly outcome: ToolOutcome
  constructor(outcome: ToolOutcome) {
    super('the patch does not apply')
    this.outcome = outcome
  }
}

export const apply_patch: Tool<'apply_patch'> = {
  name: actionTool.apply_patch,
  async run(context, { patch }) {
    const files: Files = { before: new Map(), after: new Map(), moves: [] }
    try {
      const patches = parsePatch(patch)
      const aliases = await aliasesIn(context, patches)
      if (aliases !== null)
        return noMatch(
          `${aliases.join(' and ')} are the same file. Change it by one of its names. Nothing was changed.`,
        )
      const changed: ChangedFile[] = []
      for (const one of patches) {
        await yieldToOthers()
        changed.push(await change(context, files, one))
      }
      await commit(context, files)
      return { status: 'ok', output: { status: 'ok', files: changed } }
    } catch (error) {
      if (error instanceof PatchRefusal) return error.outcome
      if (error instanceof PatchError) return noMatch(error.message)
      if (error instanceof SandboxFileError) return noMatch(`${error.message}. Nothing was changed.`)
      throw error
    }
  },
}

/** A patch that does not apply is for the agent to fix, and no ERROR of its own. */
function noMatch(message: string): ToolOutcome {
  const { error: _entry, ...outcome } = failed('no_match', message)
  return outcome
}

async function change(context: ToolContext, files: Files, patch: FilePatch): Promise<ChangedFile> {
  const path = workspacePath(patch.path)
  const content = await contentOf(context, files, path)
  if (patch.kind === 'add') {
    refusePlaceholders(context, path, patch.content.join('\n'), '')
    files.after.set(path, textAsBytes(patch.content.map(line => `${line}\n`).join('')))
    return { change: content === null ? 'added' : 'updated', path }
  }
  if (content === null)
    throw new PatchRefusal(
      noMatch(`${path} does not exist (line ${patch.line} of the patch). Nothing was changed.`),
    )
  if (patch.kind === 'delete') {
    files.after.set(path, null)
    return { change: 'deleted', path }
  }
  if (patch.hunks.length > 0 && content.includes(0))
    throw new PatchRefusal(noMatch(`${path} is a binary file. Nothing was changed.`))
  const byte_text = bytesAsText(content)
  refusePlaceholders(context, path, textOf(patch, '+'), `${textOf(patch, '-')}\n${textOf(patch, ' ')}`)
  const applied = await applyHunks(byte_text, patch.hunks)
  if ('failed' in applied)
    throw new PatchRefusal(noMatch(await mismatch(context, patch, readable(byte_text), applied)))
  const move_to = patch.move_to === null ? null : workspacePath(patch.move_to)
  if (move_to !== null && move_to !== path) {
    await contentOf(context, files, move_to)
    files.after.set(path, null)
    files.moves.push({ from: path, to: move_to })
  }
  files.after.set(move_to ?? path, Buffer.from(applied.text, 'latin1'))
  return move_to === null || move_to === path
    ? { change: 'updated', path }
    : { change: 'moved', path: move_to, from: path }
}

const textOf = ({ hunks }: Update, sign: string) =>
  hunks.flatMap(hunk => hunk.lines.flatMap(line => (line.sign === sign ? [line.text] : []))).join('\n')

function refusePlaceholders(context: ToolContext, path: string, added: string, known: string): void {
  const refused = placeholderWritten(context, path, added, known)
  if (refused !== null) throw new PatchRefusal(refused)
}

async function contentOf(
  { sandbox, signal }: ToolContext,
  { before, after }: Files,
  path: string,
): Promise<Buffer | null> {
  const known = after.get(path)
  if (known !== undefined) return known
  const content = await readFile(await sandbox(), path, { max_bytes: FILE_BYTES, signal }).catch(
    (error: unknown) => {
      if (error instanceof SandboxFileError && error.code === 'not_found') return null
      throw error
    },
  )
  before.set(path, content)
  after.set(path, content)
  return content
}

async function mismatch(
  { redactor }: ToolContext,
  { path, hunks }: Update,
  text: string,
  { failed: hunk, number, wanted, anchor }: Extract<AppliedHunks, { failed: unknown }>,
): Promise<string> {
  const which = `Hunk ${number} of ${hunks.length} for ${path} (line ${hunk.line} of the patch) does not match, so nothing was changed.`
  if (anchor !== null && wanted.length === 1 && wanted[0] === anchor)
    return `${which} No line after the hunk before is \`${anchor}\`, as its @@ says.`
  const lines = text.split('\n').map(line => line.replace(/\r$/, ''))
  const nearest = nearestLines(lines, wanted)
  if (nearest === null)
    return `${which} The file (${lines.length} lines) has nothing like the lines that it expects.`
  const { first, count, at, difference } = nearest
  const shown = await excerpt(text, [{ start: first, end: first + count }], redactor)
  return `${which} The nearest lines, where line ${first + at + 1} is the first that differs: ${difference}.\n${shown}`
}

/** Writes all files, or none: what was written before a failure is restored. */
async function commit({ sandbox, signal }: ToolContext, { before, after, moves }: Files): Promise<void> {
  const box = await sandbox()
  const written: string[] = []
  try {
    for (const [path, content] of after) {
      if (content === null || before.get(path)?.equals(content)) continue
      written.push(path)
      await writeFile(box, path, content, { signal })
    }
    for (const { from, to } of moves)
      if (before.get(from) && after.get(to)) await copyMode(box, from, to, { signal })
    await removeFiles(
      box,
      [...after].flatMap(([path, content]) => (content === null && before.get(path) ? [path] : [])),
      { signal },
    )
  } catch (error) {
    for (const path of written) {
      const content = before.get(path) ?? null
      await (content === null ? removeFiles(box, [path]) : writeFile(box, path, content)).catch(() => {})
    }
    throw error
  }
}

/**
 * Returns two different paths of a patch that are the same file, by links: the content for one would
 * overwrite that for the other. Null: there are none. A link that is deleted is not a name of the file that
 * it leads to.
 */
async function aliasesIn(
  { sandbox, signal }: ToolContext,
  patches: FilePatch[],
): Promise<[string, string] | null> {
  const follows = new Map<string, boolean>()
  for (const patch of patches) {
    const path = workspacePath(patch.path)
    follows.set(path, patch.kind !== 'delete' || follows.get(path) === true)
    if (patch.kind === 'update' && patch.move_to !== null) follows.set(workspacePath(patch.move_to), true)
  }
  if (follows.size < 2) return null
  const names = [...follows].map(([path, follow]) => ({ path, follow }))
  const ids = await fileIds(await sandbox(), names, { signal })
  const paths = new Map<string, string>()
  for (const [i, { path }] of names.entries()) {
    const id = ids[i] ?? null
    const other = id === null ? undefined : paths.get(id)
    if (other !== undefined) return [other, path]
    if (id !== null) paths.set(id, path)
  }
  return null
}
