import type { ToolInput } from '../../contract/runs/tools.ts'
import { globPattern } from '../../core/text/glob-pattern.ts'
import { isOfKernel } from '../../core/text/kernel-files.ts'
import { shellQuote } from '../../core/text/shell-quote.ts'

/** Exit codes of the script that no program uses for itself. */
export const NO_SUCH_PATH = 240
export const BAD_PATTERN = 241
export const NOT_A_FILE = 242
export const OF_KERNEL = 243

/** No settings of the agent, hidden files but no objects of git, and the order of paths. */
const WALK = "--no-config --hidden --no-require-git --glob '!.git' --sort path"
const SEPARATED = "--null --field-match-separator '\\x00' --field-context-separator '\\x00'"
const LAYOUT = `--with-filename --line-number --column --no-heading --color never --crlf ${SEPARATED}`

/**
 * The programs of a search: `list` the files with NUL between them, `filter` that list, and `search` the
 * files that follow.
 */
type Programs = { list: string; filter: string; search: string }

/**
 * Returns the bash command of a search: `file NUL line NUL column NUL text` on standard output, without a
 * column for lines of context, at most `max_lines` and `max_bytes`, the reasons of failures on standard
 * error. A pipe, a device or a file of the kernel may never end: one that is named is refused, as is a folder
 * of them, and in other folders both programs skip them. The linear-time engine of ripgrep is the default;
 * PCRE2, for lookaround, has a limit of its own on backtracking. Where there is no ripgrep, git searches,
 * within lines only. Throws GlobError.
 */
export function searchCommand(
  input: ToolInput<'search'>,
  { max_lines, max_bytes }: { max_lines: number; max_bytes: number },
): string {
  const path = input.path ?? '.'
  const folder = path === '.' ? './' : path
  const search = (programs: Programs) => pipeline(programs, folder, input.glob)
  return `rg=/run/init/rg; [ -x "$rg" ] || rg=$(command -v rg)
[ -e ${shellQuote(path)} ] || exit ${NO_SUCH_PATH}
[ -f ${shellQuote(path)} ] || [ -d ${shellQuote(path)} ] || exit ${NOT_A_FILE}
{ [ "$(realpath -- ${shellQuote(path)})" = / ] || ${isOfKernel(shellQuote(path))}; } && exit ${OF_KERNEL}
search() { if [ -n "$rg" ]; then
"$rg" --no-config --quiet ${patternOptions(input)} -- /dev/null || [ $? = 1 ] || exit ${BAD_PATTERN}
${search(ripgrep(input))}; else ${isMultiline(input) ? NO_LINE_BREAKS : search(git(input))}; fi; }
search | head -n ${max_lines} | head -c ${max_bytes}; exit "\${PIPESTATUS[0]}"`
}

const NO_LINE_BREAKS = `{ echo 'this sandbox has no ripgrep, so a pattern matches within one line: remove the line break' >&2; exit ${BAD_PATTERN}; }`

/** Whether a pattern has a line break; after an even number of backslashes an n is only itself. */
const isMultiline = ({ pattern }: ToolInput<'search'>) => /\n|(?<!\\)(?:\\\\)*\\n/.test(pattern)

/** A glob of ripgrep itself would also find ignored files, so it filters the list of the others. */
function pipeline({ list, filter, search }: Programs, folder: string, glob: string | undefined): string {
  if (glob === undefined) return `${search} ${shellQuote(folder)}`
  const inverted = glob.startsWith('!') ? ' --invert-match' : ''
  return `${list} ${shellQuote(folder)} | ${filter}${inverted} --regexp=${shellQuote(pathPattern(folder, glob))} | xargs -0 -r ${search}`
}

function ripgrep(input: ToolInput<'search'>): Programs {
  // The option for files only would also list binary files that are named, as those of a glob are.
  const lines = input.files_only ? '--max-count 1 --max-columns 1' : `--context ${input.context ?? 0}`
  return {
    list: `"$rg" ${WALK} --files --null --`,
    filter: '"$rg" --no-config --null-data --text',
    search: `"$rg" ${WALK} ${LAYOUT} ${lines} ${patternOptions(input)} --`,
  }
}

function patternOptions(input: ToolInput<'search'>): string {
  const { pattern, ignore_case } = input
  const multiline = isMultiline(input) ? '--multiline' : ''
  return `--engine auto ${multiline} ${ignore_case ? '--ignore-case' : ''} --regexp=${shellQuote(pattern)}`
}

function git({ pattern, ignore_case, context, files_only }: ToolInput<'search'>): Programs {
  const walk = 'git grep --no-index --exclude-standard -I --no-color'
  const lines = files_only ? '' : `--context ${context ?? 0}`
  return {
    list: `${walk} --files-with-matches --null -e '' --`,
    filter: 'grep --null-data --perl-regexp',
    search: `${walk} --null --line-number --column --perl-regexp ${lines} ${ignore_case ? '--ignore-case' : ''} -e ${shellQuote(pattern)} --`,
  }
}

/** The paths that a glob means, relative to the workspace or to the folder that is searched. */
function pathPattern(folder: string, glob: string): string {
  const wanted = glob.replace(/^!/, '').replace(/^\/workspace\//, '/')
  const prefix = [...new Set(['./', '/workspace/', folder.endsWith('/') ? folder : `${folder}/`])]
    .map(RegExp.escape)
    .join('|')
  return `^(?:${prefix})?(?:${globPattern(wanted)})$`
}
