import { shellQuote as quote } from '../../core/text/shell-quote.ts'
import { excludePatterns } from './exclude-patterns.ts'

/**
 * Command lines for bash inside a run's sandbox, started in the workspace. The agent may have changed
 * anything there, including `.git`, so each command examines the state itself. Objects are borrowed from the
 * mirror, which is bound read-only at the same path in every turn.
 */
export type WorkspaceRepository = {
  /** Where the mirror is bound inside. */
  mirror_inside: string
  /** The commit the run starts from; null for a repository without one. */
  base_sha: string | null
  /** The run's branch. */
  branch: string
  /** Shown as `origin`; a fetch from it inside reads the mirror instead. Must not contain credentials. */
  origin_url: string
  author_name: string
  author_email: string
}

/**
 * Creates the repository in the workspace and checks `base_sha` out on the new branch. Exit code 0, otherwise
 * git's. Removes a `.git` of an earlier, failed attempt.
 */
export function cloneCommand(input: WorkspaceRepository): string {
  const checkout = input.base_sha
    ? `g -c checkout.workers=0 reset --quiet --hard ${quote(input.base_sha)}`
    : 'true'
  return [...PROLOGUE, ...REMOVE_REPOSITORY, ...initRepository(input), checkout].join('\n')
}

/**
 * Puts the workspace on a new branch. One that is at `from_sha` with nothing uncommitted continues from
 * `to_sha`, in whose history all of that is; any other keeps its files as they are. Exit code 0, otherwise
 * git's.
 */
export function switchCommand(input: { branch: string; from_sha: string; to_sha: string }): string {
  const [branch, from, to] = [input.branch, input.from_sha, input.to_sha].map(quote)
  return [
    ...PROLOGUE,
    "head=$(g rev-parse --verify --quiet 'HEAD^{commit}')",
    `if [ "$head" = ${from} ] && [ -z "$(g status --porcelain --ignore-submodules=none)" ]; then`,
    `  g checkout --quiet -B ${branch} ${to}; echo "at ${'$'}(g rev-parse HEAD)"`,
    'else',
    `  g update-ref refs/heads/${branch} "$head"; g symbolic-ref HEAD refs/heads/${branch}; echo "still at $head"`,
    'fi',
  ].join('\n')
}

/**
 * Returns a command that records, outside of the workspace, what differs from `HEAD` before the setup
 * commands run. Exit code 0, otherwise git's.
 */
export function beforeSetupCommand(): string {
  return [...PROLOGUE, `${UNTRACKED} >/tmp/untracked`, `${CHANGED} >/tmp/changed`].join('\n')
}

/**
 * Reports the untracked files that they created since, and the tracked ones that they changed. Exit code 0,
 * otherwise git's. Parse the output with `parseAfterSetup`.
 */
export function afterSetupCommand(): string {
  return [
    ...PROLOGUE,
    // A name with a newline cannot be recorded.
    `${UNTRACKED} | comm -z -13 /tmp/untracked - | sed -z '/\\n/d; s/^/agentrun-made /' | tr '\\0' '\\n'`,
    `${CHANGED} | comm -z -13 /tmp/changed - | sed -z '/\\n/d; s/^/agentrun-changed /' | tr '\\0' '\\n'`,
    'rm -f /tmp/untracked /tmp/changed',
  ].join('\n')
}

const UNTRACKED = 'g ls-files -z --others --exclude-standard --directory | sort -z'
const CHANGED = 'g diff -z --name-only --ignore-submodules=none HEAD | sort -z'

/**
 * Returns the paths that setup commands created and changed; `folder/` means everything in it. `cut_at`: that
 * many bytes are the beginning of the output, the rest is its end; null: it is complete.
 */
export function parseAfterSetup(
  output: Uint8Array,
  cut_at: number | null,
): { created: string[]; changed: string[] } {
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8')
  const lines =
    cut_at === null
      ? text(output).split('\n')
      : // A partial name would be another name.
        [
          ...text(output.subarray(0, cut_at)).split('\n').slice(0, -1),
          ...text(output.subarray(cut_at)).split('\n').slice(1),
        ]
  const named = (kind: string) =>
    lines.flatMap(line => (line.startsWith(kind) ? [line.slice(kind.length)] : []))
  return { created: named('agentrun-made '), changed: named('agentrun-changed ') }
}

/** Excludes these paths from what the workspace's git stages. Exit code 0, otherwise bash's. */
export function leaveOutCommand(paths: readonly string[]): string {
  return [
    ...PROLOGUE,
    `mkdir -p .git/info; printf '%s' ${quote(excludePatterns(paths))} >>.git/info/exclude`,
  ].join('\n')
}

/**
 * Removes the repository and its tracked files, and keeps the other files, submodules included. Exit code 0.
 */
export function removeFilesCommand(): string {
  return [...PROLOGUE, 'g ls-files -z | xargs -0 -r rm -fd -- || true', ...REMOVE_REPOSITORY].join('\n')
}

/** Fills an empty workspace and home folder with a copy of two folders. Exit code 0, otherwise cp's. */
export function copyPreparedCommand(workspace: string, home: string): string {
  return [
    'set -e',
    `cp -a --reflink=auto ${quote(workspace)}/. .`,
    `cp -a --reflink=auto ${quote(home)}/. "$HOME"`,
  ].join('\n')
}

/**
 * Moves the workspace, in which everything is committed, to another commit with the same tree. Exit code 0,
 * otherwise git's.
 */
export function switchCommitCommand(commit: CopiedCommit): string {
  return [...PROLOGUE, copyCommit(commit), `g update-ref HEAD ${quote(commit.sha)}`].join('\n')
}

/**
 * A commit of the run's own objects, which are bound at `kept_inside`; the workspace has all ancestors of
 * `known`.
 */
export type CopiedCommit = { sha: string; known: string[]; kept_inside: string }

/** The workspace borrows only from the mirror, which other runs read too. */
function copyCommit({ sha, known, kept_inside }: CopiedCommit): string {
  const revisions = [sha, ...known.map(commit => `^${commit}`)].map(quote).join(' ')
  const borrowed = `GIT_ALTERNATE_OBJECT_DIRECTORIES=${quote(`${kept_inside}/objects`)}`
  return `printf '%s\\n' ${revisions} | ${borrowed} g pack-objects --revs --stdout --quiet | g unpack-objects -q`
}

/**
 * Moves the workspace, in which everything is committed at `from_sha`, to the files of another commit. Exit
 * code 0, otherwise git's, and nothing is changed.
 */
export function moveToCommand(from_sha: string, to: CopiedCommit): string {
  const sha = quote(to.sha)
  return [
    ...PROLOGUE,
    copyCommit(to),
    `g read-tree -m -u ${quote(from_sha)} ${sha}`,
    `g update-ref HEAD ${sha}`,
  ].join('\n')
}

/**
 * Makes `sha` the parent of the next commit, with all changes since: the commits between are squashed. Exit
 * code 0, otherwise git's.
 */
export function squashCommand(sha: string): string {
  return [...PROLOGUE, `g reset --quiet --soft ${quote(sha)}`].join('\n')
}

/** GIT_DIR and GIT_WORK_TREE are set, so that the workspace's own configuration of them is ignored. */
export const PROLOGUE = [
  'set -e -o pipefail',
  'export GIT_DIR="$PWD/.git" GIT_WORK_TREE="$PWD" LC_ALL=C GIT_TERMINAL_PROMPT=0 GIT_EDITOR=true GIT_PAGER=cat',
  'SAFE=(-c core.hooksPath=/dev/null -c core.fsmonitor=false -c commit.gpgSign=false -c gc.auto=0 -c maintenance.auto=false -c core.bare=false -c advice.addEmbeddedRepo=false)',
  `g() { git "\${SAFE[@]}" "$@"; }`,
]

/** All of it except the repositories of submodules: a checked-out submodule fails without its own. */
export const REMOVE_REPOSITORY = [
  'if [ -L .git ] || [ -e .git -a ! -d .git ]; then rm -f .git; fi',
  'if [ -d .git ]; then find .git -mindepth 1 -maxdepth 1 ! -name modules -exec rm -rf {} +; fi',
]

/**
 * Returns commands that replace `git clone`: they are faster, deterministic, and only branches and tags of
 * the mirror become visible.
 */
export function initRepository(input: WorkspaceRepository): string[] {
  const mirror = quote(input.mirror_inside)
  const config = [
    '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true',
    `[user]\n\tname = ${configValue(input.author_name)}\n\temail = ${configValue(input.author_email)}`,
    `[remote "origin"]\n\turl = ${configValue(input.origin_url)}\n\tfetch = +refs/heads/*:refs/remotes/origin/*`,
    `[url ${configValue(input.mirror_inside)}]\n\tinsteadOf = ${configValue(input.origin_url)}`,
    '[gc]\n\tauto = 0\n',
  ].join('\n')
  return [
    'mkdir -p .git/objects/info .git/objects/pack .git/refs/heads .git/refs/tags .git/info',
    `printf '%s\\n' ${quote(`ref: refs/heads/${input.branch}`)} > .git/HEAD`,
    `printf '%s' ${quote(config)} > .git/config`,
    `printf '%s\\n' ${borrowedObjects(input)} > .git/objects/info/alternates`,
    `if [ -f ${mirror}/shallow ]; then cp ${mirror}/shallow .git/shallow; fi`,
    `git --git-dir=${mirror} for-each-ref --format=${quote(REF_OF_ORIGIN)} refs/heads refs/tags > .git/packed-refs`,
  ]
}

/** A line of packed references: a branch of the mirror is one of `origin`, a tag has its name. */
const REF_OF_ORIGIN =
  '%(objectname) %(if:equals=refs/heads)%(refname:rstrip=-2)%(then)refs/remotes/origin/%(refname:lstrip=2)%(else)%(refname)%(end)'

/** The line that names whose objects are borrowed. */
export function borrowedObjects({ mirror_inside }: Pick<WorkspaceRepository, 'mirror_inside'>): string {
  return quote(`${mirror_inside}/objects`)
}

/** Quotes a value in git's configuration syntax. */
function configValue(text: string): string {
  const plain = text.replace(/[\u0000-\u001f\u007f]+/g, ' ')
  return `"${plain.replace(/["\\]/g, '\\$&')}"`
}
