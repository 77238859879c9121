import { isRefName } from '../../contract/organizations/ref-name.ts'
import { shellQuote as quote } from '../../core/text/shell-quote.ts'
import { isSha } from '../refs/ref-name.ts'
import { excludePatterns } from './exclude-patterns.ts'
import { cloneCommand, type WorkspaceRepository } from './workspace-commands.ts'

type RestoreInput = {
  /** Where the object cache of the run is bound. */
  kept_inside: string
  tree: string
  /** The commit to check out, and its branch; null: detached. */
  head: string | null
  branch: string | null
  /**
   * Paths that exist in the workspace and are excluded from its snapshots: the tree must not contain them.
   */
  beside: readonly string[]
}

/**
 * Returns a command for bash inside the run's sandbox, in a workspace that is empty except for `beside`. It
 * restores a stored tree, byte by byte, on top of a repository with its commits if there is one. Ignored
 * files, the index and empty folders are not restored. Exit code 0, otherwise git's.
 */
export function restoreCommand(
  { kept_inside, tree, head, branch, beside }: RestoreInput,
  repository: WorkspaceRepository | null,
): string {
  const mirror = repository === null ? '' : `${repository.mirror_inside}/objects`
  const on = branch !== null && isRefName(branch) ? branch : null
  const at = head !== null && isSha(head) ? head : (repository?.base_sha ?? null)
  return [
    'set -e -o pipefail',
    'export LC_ALL=C GIT_TERMINAL_PROMPT=0',
    ...(repository === null
      ? []
      : [`( ${cloneCommand({ ...repository, base_sha: null, branch: on ?? repository.branch })}\n)`]),
    ...populateWorkspace(kept_inside, mirror, tree, beside),
    ...(at === null ? [] : checkoutCommit(kept_inside, mirror, at, on, repository)),
    'rm -rf "$out"',
  ].join('\n')
}

/** Uses a separate repository outside the workspace, in which no attribute changes a byte. */
function populateWorkspace(kept: string, mirror: string, tree: string, beside: readonly string[]): string[] {
  return [
    'out=$(mktemp -d)',
    'mkdir -p "$out"/objects/info "$out"/objects/pack "$out"/refs "$out"/info',
    `printf 'ref: refs/heads/none\\n' > "$out/HEAD"`,
    `printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tsymlinks = true\\n\\tautocrlf = false\\n\\thooksPath = /dev/null\\n' > "$out/config"`,
    `printf '* -text -eol -crlf -ident -filter !working-tree-encoding\\n' > "$out/info/attributes"`,
    `printf '%s\\n' ${quote(`${kept}/objects`)} ${quote(mirror)} > "$out/objects/info/alternates"`,
    `GIT_DIR="$out" GIT_WORK_TREE="$PWD" git read-tree ${quote(tree)}`,
    `printf '%s' ${quote(excludePatterns(beside))} > "$out/beside"`,
    `clash=$(GIT_DIR="$out" GIT_WORK_TREE="$PWD" git ls-files --cached --ignored --exclude-from="$out/beside" | head -n 5)`,
    'if [ -n "$clash" ]; then echo "The setup commands have created files of the checkpoint:"; echo "$clash"; exit 1; fi',
    'GIT_DIR="$out" GIT_WORK_TREE="$PWD" git checkout-index --all --quiet --force --index',
  ]
}

/** Its commits are copied, because the object cache is not bound in a later turn. */
function checkoutCommit(
  kept: string,
  mirror: string,
  head: string,
  branch: string | null,
  repository: WorkspaceRepository | null,
): string[] {
  const base = repository?.base_sha ? quote(`^${repository.base_sha}`) : ''
  const shallow =
    repository === null
      ? []
      : [
          `if [ -f ${quote(repository.mirror_inside)}/shallow ]; then export GIT_SHALLOW_FILE=${quote(repository.mirror_inside)}/shallow; fi`,
        ]
  return [
    ...(repository === null ? ['git init --quiet --template= .'] : []),
    'export GIT_DIR="$PWD/.git" GIT_WORK_TREE="$PWD"',
    ...shallow,
    `printf '%s\\n' ${quote(head)} ${base} |`,
    `  GIT_DIR=${quote(kept)} GIT_ALTERNATE_OBJECT_DIRECTORIES=${quote(mirror)} git pack-objects --revs --stdout --quiet |`,
    '  git unpack-objects -q',
    'unset GIT_SHALLOW_FILE',
    ...(branch === null
      ? [`printf '%s\\n' ${quote(head)} > .git/HEAD`]
      : [
          `git update-ref --no-deref ${quote(`refs/heads/${branch}`)} ${quote(head)}`,
          `git symbolic-ref HEAD ${quote(`refs/heads/${branch}`)}`,
        ]),
    // Files that are equal to the commit are marked as unchanged.
    'cp "$out/index" .git/index',
    `git -c core.hooksPath=/dev/null -c core.fsmonitor=false read-tree --reset ${quote(head)}`,
  ]
}
