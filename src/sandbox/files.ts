import { isOfKernel } from '../core/text/kernel-files.ts'
import { shellQuote } from '../core/text/shell-quote.ts'
import type { ExecResult, Sandbox } from './port.ts'

type FileErrorCode =
  | 'not_found'
  | 'is_directory'
  | 'not_a_file'
  | 'too_large'
  | 'no_permission'
  | 'timeout'
  | 'failed'

/** Why a file inside the sandbox could not be read or written; `message` can be shown to the agent. */
export class SandboxFileError extends Error {
  override name = 'SandboxFileError'
  readonly code: FileErrorCode
  constructor(code: FileErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

type Options = { signal?: AbortSignal; timeout_ms?: number }

const default_timeout_ms = 30_000
const max_message_bytes = 2_000

// Exit codes of the scripts below that no program uses for itself.
const refusals: Record<number, { code: FileErrorCode; shown_message: string }> = {
  240: { code: 'not_found', shown_message: 'does not exist' },
  241: { code: 'is_directory', shown_message: 'is a directory' },
  242: { code: 'not_a_file', shown_message: 'is not a regular file' },
  243: { code: 'no_permission', shown_message: 'cannot be read: permission denied' },
}

/**
 * Returns the bytes of the file at `path`, relative to /workspace, following links as inside. Throws
 * SandboxFileError when it is missing, not a regular file, not readable, or longer than `max_bytes` (then
 * nothing of it is returned).
 */
export async function readFile(
  sandbox: Sandbox,
  path: string,
  options: Options & { max_bytes: number },
): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  await streamFile(sandbox, path, options, chunk => {
    chunks.push(chunk)
  })
  return Buffer.concat(chunks)
}

/** Reads a file like `readFile`, piece by piece: what `sink` received does not count when it throws. */
export async function streamFile(
  sandbox: Sandbox,
  path: string,
  options: Options & { max_bytes: number },
  sink: (chunk: Uint8Array) => void,
): Promise<void> {
  let bytes = 0
  const script = `f=${shellQuote(path)}
[[ -e $f ]] || exit 240; [[ -d $f ]] && exit 241; [[ -f $f ]] || exit 242; ${isOfKernel('"$f"')} && exit 242
[[ -r $f ]] || exit 243
exec head -c ${options.max_bytes + 1} <"$f"`
  const result = await sandbox.stream(request(script, options), chunk => {
    bytes += chunk.length
    sink(chunk)
  })
  check(result, path)
  if (bytes > options.max_bytes)
    throw new SandboxFileError('too_large', `${path} is larger than ${options.max_bytes} bytes`)
}

/**
 * Writes the file at `path`, creates missing folders, and replaces the content of an existing file; its mode
 * and links stay. Throws SandboxFileError.
 */
export async function writeFile(
  sandbox: Sandbox,
  path: string,
  bytes: Uint8Array,
  options: Options = {},
): Promise<void> {
  const script = `f=${shellQuote(path)}
[[ -d $f ]] && exit 241; [[ -e $f && ! -f $f ]] && exit 242; ${isOfKernel('"$f"')} && exit 242
[[ -e $f || $f != */* ]] || mkdir -p -- "\${f%/*}/" || exit 1
exec cat >"$f"`
  check(await sandbox.exec({ ...request(script, options), shell: 'separate', stdin: bytes }), path)
}

/**
 * Returns for each path a text that is the same for two names of one file; null: neither it nor its folder
 * exists. `follow`: of a link, the file that it leads to. Throws SandboxFileError.
 */
export async function fileIds(
  sandbox: Sandbox,
  names: { path: string; follow: boolean }[],
  options: Options = {},
): Promise<(string | null)[]> {
  const script = `id() { stat "$@" 2>/dev/null; }
while IFS= read -r -d '' follow && IFS= read -r -d '' f; do
[[ $f == */* ]] && d=\${f%/*}/ || d=.
id=$(id $follow -c %d:%i -- "$f") || { id=$(id -L -c %d:%i -- "$d") && id+=/\${f##*/}; }
printf '%s\\0' "$id"; done`
  const stdin = Buffer.from(names.map(({ path, follow }) => `${follow ? '-L' : ''}\0${path}\0`).join(''))
  const max_output_bytes = Buffer.byteLength(names.map(({ path }) => path).join()) + 100 * names.length
  const result = await sandbox.exec({
    ...request(script, options),
    shell: 'separate',
    stdin,
    max_output_bytes,
  })
  check(
    result,
    names
      .map(({ path }) => path)
      .join(', ')
      .slice(0, 200),
  )
  const ids = Buffer.from(result.output).toString().split('\0')
  return names.map((_, i) => ids[i] || null)
}

/**
 * Removes files and links; folders of them must be writable, otherwise none is removed. Throws
 * SandboxFileError.
 */
export async function removeFiles(sandbox: Sandbox, paths: string[], options: Options = {}): Promise<void> {
  if (paths.length === 0) return
  const words = paths.map(shellQuote).join(' ')
  const script = `for f in ${words}; do [[ $f == */* ]] && d=\${f%/*}/ || d=.; [[ -w $d ]] || { echo "$f: Permission denied"; exit 1; }; done
exec rm -f -- ${words}`
  check(await sandbox.exec({ ...request(script, options), shell: 'separate' }), paths.join(', '))
}

/** Gives the file `to` the permission bits of `from`. Throws SandboxFileError. */
export async function copyMode(
  sandbox: Sandbox,
  from: string,
  to: string,
  options: Options = {},
): Promise<void> {
  const script = `exec chmod "$(stat -L -c %a -- ${shellQuote(from)})" -- ${shellQuote(to)}`
  check(await sandbox.exec({ ...request(script, options), shell: 'separate' }), to)
}

function request(command: string, { signal, timeout_ms }: Options) {
  return {
    command,
    timeout_ms: timeout_ms ?? default_timeout_ms,
    max_output_bytes: max_message_bytes,
    ...(signal ? { signal } : {}),
  }
}

function check(result: ExecResult, path: string): void {
  if (result.status === 'timeout')
    throw new SandboxFileError('timeout', `${path}: no end within the time limit`)
  if (result.status !== 'exited') throw new SandboxFileError('failed', `${path}: ${result.status}`)
  if (result.exit_code === 0) return
  const refusal = refusals[result.exit_code ?? -1]
  if (refusal) throw new SandboxFileError(refusal.code, `${path} ${refusal.shown_message}`)
  const error_output = Buffer.from(result.output).toString().trim()
  const code = /Permission denied|Read-only file system/.test(error_output) ? 'no_permission' : 'failed'
  throw new SandboxFileError(
    code,
    error_output ? `${path}: ${error_output}` : `${path}: failed with exit code ${result.exit_code}`,
  )
}
