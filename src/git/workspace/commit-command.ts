import { isOfKernel } from '../../core/text/kernel-files.ts'
import { shellQuote as quote } from '../../core/text/shell-quote.ts'
import { bundleFunction } from './bundle-command.ts'
import { GAPS } from './commit-gaps.ts'
import { borrowedObjects, initRepository, PROLOGUE, type WorkspaceRepository } from './workspace-commands.ts'

/** Runs for a link, `$1`. */
const leadsToKernel = quote(isOfKernel('"$1"'))

/**
 * Conditions of find for what git would block on: a named pipe instead of one of its files, or a link to a
 * file of the kernel, which may have no end; in `.git` also locks that killed processes have left.
 */
const BLOCKING = [
  "\\( -path './.git/*' \\( -xtype p",
  `-o -type l -exec bash -c ${leadsToKernel} bash {} \\;`,
  "-o -name '*.lock' \\( -path './.git/refs/*' -o ! -path './.git/*/*' \\) \\)",
  "-o ! -path './.git/*' -type p -name '.git*' \\)",
].join(' ')

/** Exit code of `commitCommand` when there was nothing to commit. */
const NOTHING_TO_COMMIT = 3

/**
 * Stages everything that .gitignore does not exclude and commits it, in any state that the agent left the
 * repository in: a merge is concluded, stale locks are removed, a broken or deleted `.git` is recreated on
 * top of `base_sha`, and nested repositories are added as files. `at` is the time of the commit, so that the
 * same files and message create the same commit everywhere. No hooks, no signature. Exit code 0: committed;
 * NOTHING_TO_COMMIT; anything else: git's error is in standard error. Parse standard error with
 * `parseCommit`. Standard output is a bundle of the commit, as of `bundleCommand`, unless it is `base_sha` or
 * `exported_sha`, which the host has.
 */
export function commitCommand(
  input: WorkspaceRepository & { message: string; at: Date; exported_sha: string | null },
): string {
  const base = input.base_sha ? quote(input.base_sha) : ''
  return [
    ...PROLOGUE,
    'exec 3>&1 1>&2',
    'if [ -e .git ] && [ ! -d .git ] || [ -L .git ]; then rm -f .git; fi',
    // A folder without permissions hides such a pipe from git as well.
    `find . ${BLOCKING} -exec rm -f {} + 2>/dev/null || true`,
    `head=$(exec git "\${SAFE[@]}" rev-parse --verify --quiet 'HEAD^{commit}' 2>/dev/null) || head=`,
    'if [ -z "$head" ] && ! g rev-parse --verify --quiet HEAD >/dev/null 2>&1 && ! g symbolic-ref --quiet HEAD >/dev/null 2>&1; then',
    ...initRepository(input),
    'fi',
    'alternates=(); if [ -f .git/objects/info/alternates ]; then mapfile -t alternates <.git/objects/info/alternates; fi',
    `borrows=; for line in "\${alternates[@]}"; do if [ "$line" = ${borrowedObjects(input)} ]; then borrows=1; fi; done`,
    'if [ -z "$borrows" ]; then',
    `  mkdir -p .git/objects/info; printf '%s\\n' ${borrowedObjects(input)} >> .git/objects/info/alternates; head=`,
    'fi',
    ...(base
      ? [
          `if [ -z "$head" ] && ! g rev-parse --verify --quiet 'HEAD^{commit}' >/dev/null; then`,
          ...startOver(input.branch, base),
          'fi',
        ]
      : []),
    ...TAKE_NESTED,
    'take_nested',
    ...GAPS,
    'stage',
    'if [ "$added" -gt 1 ]; then rm -f .git/index; if g rev-parse --verify --quiet HEAD >/dev/null; then g read-tree HEAD; fi; stage; list_entries; fi',
    'give_nested',
    'if [ "$added" -gt 1 ]; then exit "$added"; fi',
    // Git ends with 1 when there is nothing to commit, and with 128 for an error.
    'result=committed; code=0',
    `printf '%s' ${quote(input.message.replaceAll('\0', ''))} | ${author(input)} ${dates(input.at)} git "\${SAFE[@]}" -c status.showUntrackedFiles=no commit --quiet --no-verify --no-gpg-sign --allow-empty-message --cleanup=verbatim -F - >/dev/null || code=$?`,
    `if [ "$code" -eq 1 ]; then result=unchanged; code=${NOTHING_TO_COMMIT}; elif [ "$code" -ne 0 ]; then exit "$code"; fi`,
    ...READ_HEAD,
    ...(base ? [`find_gaps ${base} || true`] : []),
    ...bundleFunction(input),
    // A bundle that failed is written by a command of its own, which reports why.
    "bundled=' bundled'; failed=0",
    `if [ "$head" = none ] || [ "$head" = ${base || "''"} ] || [ "$head" = ${quote(input.exported_sha ?? '')} ]; then bundled=; else bundle "$head" || failed=$?; fi`,
    'if [ "$failed" -gt 128 ]; then exit "$failed"; elif [ "$failed" -ne 0 ]; then bundled=; fi',
    `printf '\\nagentrun-head %s %s%s\\n' "$head" "$result" "$bundled"; exit "$code"`,
  ].join('\n')
}

/**
 * Parses the standard error of `commitCommand`: the HEAD of the workspace (null: no commit at all), whether
 * it is new, and whether standard output is its bundle; or null when it failed.
 */
export function parseCommit(
  exit_code: number | null,
  output: string,
): { head_sha: string | null; committed: boolean; bundled: boolean } | null {
  const [, head, result, bundled] =
    /\nagentrun-head ([0-9a-f]{40}|none) (committed|unchanged)( bundled)?\n?$/.exec(output) ?? []
  if (!head || (exit_code !== 0 && exit_code !== NOTHING_TO_COMMIT)) return null
  return {
    head_sha: head === 'none' ? null : head,
    committed: result === 'committed',
    bundled: bundled !== undefined,
  }
}

/**
 * Sets `head` to the commit that HEAD leads to, or `none`; without a process where the files of git name it,
 * as after a commit.
 */
const READ_HEAD = [
  'head=',
  `if [ ! -e .git/commondir ] && [ -f .git/HEAD ] && read -r head <.git/HEAD && [[ $head = 'ref: '* ]]; then`,
  `  ref=".git/\${head#ref: }"; if ! { [ -f "$ref" ] && read -r head <"$ref"; }; then head=; fi`,
  'fi',
  `if ! [[ $head =~ ^[0-9a-f]{40}$ ]]; then head=$(exec git "\${SAFE[@]}" rev-parse --verify --quiet 'HEAD^{commit}') || head=none; fi`,
]

function startOver(branch: string, base: string): string[] {
  const ref = quote(`refs/heads/${branch}`)
  return [`  g symbolic-ref HEAD ${ref}`, `  rm -f .git/${ref}`, `  g update-ref ${ref} ${base}`]
}

/**
 * Git would add a nested repository as a bare link and lose its files: its `.git` is moved aside while files
 * are staged. It is an untracked folder (`? `), or a link without a list of submodules. `entries` are those
 * and what `find_gaps` examines; files need not be staged for that.
 */
const TAKE_NESTED = [
  'nested=() entries=()',
  'list_entries() {',
  `  mapfile -d '' -t entries < <(git "\${SAFE[@]}" ls-files -z -v --stage --others --exclude-standard 2>/dev/null | grep -z -E '^[?] .*/$|^[^?] 160000 |^[a-zS] |\\.gitattributes$')`,
  '}',
  'take_nested() {',
  '  local entry path round found',
  '  for round in 1 2 3 4 5 6 7 8; do',
  '    found=()',
  '    list_entries',
  `    for entry in "\${entries[@]}"; do`,
  '      case $entry in',
  `        '? '*/) path="\${entry#??}"; if [ -e "$path.git" ]; then found+=("$path"); fi ;;`,
  `        [!?]' 160000 '*) path="\${entry#*$'\t'}"; if [ ! -e .gitmodules ] && [ -e "$path/.git" ]; then g rm --quiet --cached -- "$path"; found+=("$path/"); fi ;;`,
  '      esac',
  '    done',
  `    if [ "\${#found[@]}" -eq 0 ]; then return; fi`,
  `    for path in "\${found[@]}"; do mkdir -p .git/agentrun-nested; mv -- "$path.git" ".git/agentrun-nested/\${#nested[@]}"; nested+=("$path"); done`,
  '  done',
  '}',
  `give_nested() { local i; for i in "\${!nested[@]}"; do mv -- ".git/agentrun-nested/$i" "\${nested[$i]}.git"; done; }`,
]

function dates(at: Date): string {
  const date = quote(`${Math.floor(at.getTime() / 1000)} +0000`)
  return `GIT_AUTHOR_DATE=${date} GIT_COMMITTER_DATE=${date}`
}

function author(input: WorkspaceRepository): string {
  const name = quote(input.author_name)
  const email = quote(input.author_email)
  return `GIT_AUTHOR_NAME=${name} GIT_AUTHOR_EMAIL=${email} GIT_COMMITTER_NAME=${name} GIT_COMMITTER_EMAIL=${email}`
}
