import type { ToolInput } from '../../contract/runs/tools.ts'
import { globPattern } from '../../core/text/glob-pattern.ts'
import { shellQuote } from '../../core/text/shell-quote.ts'

/** Exit codes of the script that no program uses for itself. */
export const NO_SUCH_PATH = 240
export const BAD_PATTERN = 241
export const NO_RIPGREP = 242

/** Columns of a line that are read: more than are shown, so that a value at the edge is complete when it is redacted. */
const LINE_BYTES = 2_000
/** No settings of the agent, hidden files but no objects of git, and the order of paths. */
const WALK = "--no-config --hidden --no-require-git --glob '!.git' --sort path"
const LAYOUT = `--with-filename --line-number --no-heading --color never --crlf --max-columns ${LINE_BYTES} --max-columns-preview`

/**
 * Returns the bash command of a search: lines `file:line:text` on standard output, or a file, NUL and its first match, at most `max_lines` and `max_bytes`, the reasons of failures
 * on standard error. The linear-time engine of ripgrep is the default; PCRE2, for lookaround, has a limit of its own on backtracking. Throws
 * GlobError.
 */
export function searchCommand(input: ToolInput<'search'>, { max_lines, max_bytes }: { max_lines: number; max_bytes: number }): string {
  const path = input.path ?? '.'
  const folder = path === '.' ? './' : path
  // A line break in a pattern needs this mode.
  const multiline = /\n|\\n/.test(input.pattern) ? '--multiline' : ''
  const pattern = `--engine auto ${multiline} ${input.ignore_case ? '--ignore-case' : ''} --regexp=${shellQuote(input.pattern)}`
  // The option for this would also list binary files that are named, as those of a glob are.
  const lines = input.files_only ? '--max-count 1 --null' : `--context ${input.context ?? 0}`
  const search = `"$rg" ${WALK} ${LAYOUT} ${lines} ${pattern} --`
  const walk =
    input.glob === undefined
      ? `${search} ${shellQuote(folder)}`
      : `"$rg" ${WALK} --files --null -- ${shellQuote(folder)} | ${pathFilter(folder, input.glob)} | xargs -0 -r ${search}`
  return `rg=/run/init/rg; [ -x "$rg" ] || rg=$(command -v rg) || exit ${NO_RIPGREP}
[ -e ${shellQuote(path)} ] || exit ${NO_SUCH_PATH}
"$rg" --no-config --quiet ${pattern} -- /dev/null || [ $? = 1 ] || exit ${BAD_PATTERN}
{ ${walk}; } | head -n ${max_lines} | head -c ${max_bytes}; exit "\${PIPESTATUS[0]}"`
}

/** A glob of ripgrep itself would also find ignored files, so it filters the list of the others. */
function pathFilter(folder: string, glob: string): string {
  const negated = glob.startsWith('!')
  const wanted = (negated ? glob.slice(1) : glob).replace(/^\/workspace\//, '/')
  const prefix = [...new Set(['./', '/workspace/', folder.endsWith('/') ? folder : `${folder}/`])].map(literal).join('|')
  const pattern = `^(?:${prefix})?(?:${globPattern(wanted)})$`
  return `"$rg" --no-config --null-data --text ${negated ? '--invert-match' : ''} --regexp=${shellQuote(pattern)}`
}

const literal = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
