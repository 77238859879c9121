import type { Approval } from './path-approvals.ts'

/** A finding of an evaluation of commits. `line`: in the file as the commit leaves it. */
export type Finding = {
  path: string | null
  line: number | null
  severity: 'error' | 'warning' | 'info'
  code: FindingCode
  body: string
}
type FindingCode =
  | 'secret_in_commit'
  | 'conflict_marker'
  | 'file_too_large'
  | 'generated_file'
  | 'lfs_content'
  | 'change_not_committed'
  | 'ci_workflow_changed'
  | 'approval_path_changed'
  | 'test_removed'
  | 'tests_untouched'
  | 'message_unclear'
/** `inconclusive`: the model gave no usable answer; it blocks nothing. */
export type Verdict = 'pass' | 'fail' | 'inconclusive'

/** The evaluated parts of the contents of commits. */
export type CommitContents = {
  /** Oldest first. */
  commits: { sha: string; message: string; files: string[] }[]
  /** The combined change. `old_path`: the previous path of a renamed file. */
  files: { path: string; old_path?: string | null; status: string }[]
  /** Every version of a file that any of the commits adds, with its size in bytes. */
  blobs: { path: string; bytes: number }[]
  /** Where the combined change leaves conflict markers. */
  conflicts: { path: string; line: number }[]
  /** Where the value of a secret was found; `path` null: in the message of a commit. */
  secrets: { path: string | null; names: string[] }[]
  /** Of `changedPaths`, those whose change a person must approve. */
  approvals: ReadonlyMap<string, Approval>
  /** What the workspace has and the commits lack, or have in another form. */
  gaps: readonly { kind: keyof typeof GAPS; path: string }[]
}

const LARGE = { warning: 1024 ** 2, error: 10 * 1024 ** 2 }

/** Files that installers and tools generate and that no repository should contain. */
const GENERATED =
  /(?:^|\/)(?:node_modules|bower_components|__pycache__|\.venv|\.tox|\.nox|\.mypy_cache|\.pytest_cache|\.ruff_cache|\.gradle|\.terraform|\.parcel-cache|\.turbo|\.next|\.nuxt)\/|\.py[co]$|(?:^|\/)(?:\.DS_Store|Thumbs\.db|npm-debug\.log|core\.\d+)$/
/** Build output; some repositories contain it intentionally. */
const BUILT =
  /(?:^|\/)(?:dist|build|out|target|coverage|htmlcov)\/|\.(?:class|o|obj|exe|dll|so|dylib|log|tmp|swp)$/
const TEST =
  /(?:^|\/)(?:tests?|specs?|__tests__|testdata)\/|(?:^|\/)(?:test_[^/]*|[^/]*[._-](?:test|spec))\.[a-z]+$|_test\.go$|Tests?\.(?:java|kt|cs|php)$/
const SOURCE = /\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|cs|rb|php|c|cc|cpp|h|hpp|swift|scala|ex|exs|vue|svelte)$/
/** A message that does not describe the change. */
export const UNCLEAR_MESSAGE =
  /^(?:wip|fix(?:es|ed)?|updates?|changes?|misc|stuff|tmp|temp|test|commit|[^\p{L}\p{N}]*)$/iu

/**
 * Returns the findings ordered by severity. `fail`: one of them is an error, and the commits should not be
 * pushed as they are.
 */
export function evaluateCommits(brought: CommitContents): { verdict: Verdict; findings: Finding[] } {
  const found = [
    ...secrets(brought),
    ...conflicts(brought),
    ...gaps(brought),
    ...sizes(brought),
    ...paths(brought),
    ...tests(brought),
    ...messages(brought),
  ]
  const weight = { error: 0, warning: 1, info: 2 }
  const findings = found.toSorted((a, b) => weight[a.severity] - weight[b.severity])
  return { verdict: findings.some(({ severity }) => severity === 'error') ? 'fail' : 'pass', findings }
}

/**
 * Findings about the commits themselves rather than the final files: changing the files does not fix them.
 */
export const isOfHistory = ({ code }: { code: string }): boolean =>
  code === 'secret_in_commit' || code === 'file_too_large' || code === 'lfs_content'

const of = (
  severity: Finding['severity'],
  code: FindingCode,
  path: string | null,
  body: string,
  line: number | null = null,
): Finding => ({
  path,
  line,
  severity,
  code,
  body,
})

const secrets = ({ secrets }: CommitContents) =>
  secrets.map(({ path, names }) =>
    of(
      'error',
      'secret_in_commit',
      path,
      `${path === null ? 'The message of a commit contains' : 'Contains'} the value of ${names.join(', ')}.`,
    ),
  )

const conflicts = ({ conflicts }: CommitContents) =>
  conflicts.map(({ path, line }) =>
    of('error', 'conflict_marker', path, 'A conflict of a merge was not resolved.', line),
  )

/**
 * Nothing in a run can change a submodule, so that is not an error: returning it to the agent would change
 * nothing.
 */
const GAPS = {
  submodule: {
    severity: 'warning',
    code: 'change_not_committed',
    text: 'It is the folder of a submodule, which is a repository of its own, so the changes in it are not part of the commit.',
  },
  flagged: {
    severity: 'error',
    code: 'change_not_committed',
    text: 'It is marked as assume-unchanged or skip-worktree, so git ignores its change: remove the mark with git update-index, or undo the change.',
  },
  unreadable: {
    severity: 'error',
    code: 'change_not_committed',
    text: 'It cannot be read, so it is not part of the commit: change its permissions, remove it, or list it in .gitignore.',
  },
  lfs: {
    severity: 'error',
    code: 'lfs_content',
    text: 'Git LFS stores it, but a commit has its content instead of a pointer, and the service uploads nothing to Git LFS: restore the pointer, or leave the file out.',
  },
} as const satisfies Record<string, { severity: Finding['severity']; code: FindingCode; text: string }>

/** Returns why a change is not in the commit as it should be. */
export const gapText = ({ kind }: Pick<CommitContents['gaps'][number], 'kind'>): string => GAPS[kind].text

const gaps = ({ gaps }: CommitContents) =>
  gaps.map(({ kind, path }) => of(GAPS[kind].severity, GAPS[kind].code, path, GAPS[kind].text))

function sizes({ blobs }: CommitContents): Finding[] {
  const largest = new Map<string, number>()
  for (const { path, bytes } of blobs) largest.set(path, Math.max(bytes, largest.get(path) ?? 0))
  return [...largest].flatMap(([path, bytes]) => {
    const severity = bytes > LARGE.error ? 'error' : bytes > LARGE.warning ? 'warning' : null
    return severity === null
      ? []
      : [of(severity, 'file_too_large', path, `Has ${(bytes / 1024 ** 2).toFixed(1)} MiB.`)]
  })
}

function paths({ files, approvals }: CommitContents): Finding[] {
  return files.flatMap(file => {
    const { path, status } = file
    const [guarded] = changedPaths(file).filter(each_path => approvals.has(each_path))
    const approval = guarded === undefined ? undefined : approvals.get(guarded)
    if (guarded !== undefined && approval) return [of('warning', approval.code, guarded, approval.body)]
    if (status !== 'added') return []
    if (GENERATED.test(path))
      return [
        of(
          'error',
          'generated_file',
          path,
          'Is generated by an installer or a tool and belongs into .gitignore.',
        ),
      ]
    return BUILT.test(path)
      ? [of('warning', 'generated_file', path, 'Is probably the output of a build.')]
      : []
  })
}

/** The paths of a file that a commit changes: also the one that a renamed file no longer has. */
export const changedPaths = (file: CommitContents['files'][number]): string[] =>
  [file.path, goneFrom(file)].filter(path => path !== null)

/** The path at which a file no longer exists. */
const goneFrom = ({ path, old_path = null, status }: CommitContents['files'][number]): string | null =>
  status === 'deleted' ? path : status === 'renamed' ? old_path : null

function tests({ files }: CommitContents): Finding[] {
  const removed = files.flatMap(file => {
    const gone = goneFrom(file)
    return gone !== null && TEST.test(gone) && (file.status === 'deleted' || !TEST.test(file.path))
      ? [gone]
      : []
  })
  const touched = files.some(({ path, status }) => status !== 'deleted' && TEST.test(path))
  const source = files.some(
    ({ path, status }) => status !== 'deleted' && SOURCE.test(path) && !TEST.test(path),
  )
  return [
    ...removed.map(path => of('warning', 'test_removed', path, 'A test was removed.')),
    ...(source && !touched
      ? [of('info', 'tests_untouched', null, 'Source files were changed, and no test.')]
      : []),
  ]
}

const messages = ({ commits }: CommitContents) =>
  commits
    .filter(({ message }) => UNCLEAR_MESSAGE.test(message.split('\n', 1)[0]?.trim() ?? ''))
    .map(({ sha }) =>
      of('info', 'message_unclear', null, `The message of ${sha.slice(0, 12)} does not describe the change.`),
    )
