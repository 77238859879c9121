import type { Signature } from './signature.ts'

export const gitSignatures: readonly Signature[] = [
  {
    code: 'git_conflict',
    pattern:
      /^CONFLICT \((.{1,60})\): (.{1,200})|^error: could not apply ([0-9a-f]{4,40})|Automatic merge failed; fix conflicts|needs merge$|You have unmerged paths|error: Your local changes to the following files would be overwritten/,
    title: 'Git has a conflict',
    cause: 'Two sides changed the same lines: $1 $2$3',
    remedy: 'Resolve the files that it names, `git add` them and go on; or `git merge --abort`, `git rebase --abort`.',
  },
  {
    code: 'conflict_markers',
    pattern: /^(?:\S{1,200}:\d{1,7}:)?<{7} \S{1,100}$/,
    title: 'A file contains conflict markers',
    cause: 'A conflict was committed or left without being resolved.',
    remedy: 'Resolve it in the file.',
    general: true,
  },
  {
    code: 'git_auth',
    pattern:
      /fatal: (?:Authentication failed|could not read (?:Username|Password)) for '?([^']{1,200})|fatal: could not read (?:Username|Password)|remote: (?:Invalid username or (?:password|token)|Repository not found|HTTP Basic: Access denied|Permission to \S{1,100} denied)|Permission denied \(publickey|terminal prompts disabled|Host key verification failed/,
    title: 'A remote rejects the credentials',
    cause: 'The remote requires credentials that the sandbox does not have. This is intentional: the service fetches and pushes for it.',
    remedy: 'Leave fetch and push to the service. A private dependency: give it a token as a secret, or allow its host.',
  },
  {
    code: 'git_lock',
    pattern: /Unable to create '([^']{1,200}\.lock)': File exists|Another git process seems to be running/,
    title: 'Git is locked',
    cause: 'Another git works in the repository, or one was killed and left `$1`.',
    remedy: 'When no git process is running, remove that file.',
  },
  {
    code: 'git_rejected',
    pattern:
      /! \[(?:remote )?rejected\] (.{1,200})|error: failed to push some refs|Updates were rejected because|non-fast-forward|protected branch hook declined|pre-receive hook declined/,
    title: 'A push was rejected',
    cause: 'The remote has commits that are not here, or its rules forbid the push: $1',
    remedy: 'Fetch and rebase first; a protected branch takes a pull request.',
  },
  {
    code: 'git_not_a_repository',
    pattern: /fatal: not a git repository/,
    title: 'This is no git repository',
    cause: 'The command ran outside of a repository, or the build reads its version from git without a repository.',
    remedy: 'Change to the repository first; for versions made from git, name one (say SETUPTOOLS_SCM_PRETEND_VERSION).',
  },
  {
    code: 'git_unknown_ref',
    pattern:
      /fatal: (?:couldn't find remote ref|Remote branch) (\S{1,200})|error: pathspec '([^']{1,200})' did not match any file|fatal: (?:ambiguous argument|bad revision) '([^']{1,200})'|fatal: invalid reference: (\S{1,200})|fatal: reference is not a tree: (\S{1,64})/,
    title: 'Git does not know a name',
    cause: 'There is no branch, tag, commit or file `$1$2$3$4$5` here; a shallow clone does not contain everything.',
    remedy: 'Check the name, and fetch it first.',
  },
  {
    code: 'git_identity',
    pattern: /Please tell me who you are|fatal: unable to auto-detect email address|empty ident name/,
    title: 'Git does not know who commits',
    cause: 'Neither name nor e-mail address is set.',
    remedy: '`git config user.name` and `user.email`, in the repository.',
  },
  {
    code: 'git_dubious_ownership',
    pattern: /fatal: detected dubious ownership in repository at '([^']{1,200})'/,
    title: 'Git does not trust a repository',
    cause: '`$1` belongs to another user.',
    remedy: '`git config --global --add safe.directory` with that path.',
  },
  {
    code: 'git_submodule',
    pattern:
      /fatal: (?:No url found for submodule path|clone of '[^']{1,200}' into submodule path) '?([^']{0,200})|Submodule '[^']{1,100}' could not be updated/,
    title: 'A submodule is not available',
    cause: '.gitmodules does not fit the commit, or its remote is out of reach: $1',
    remedy: 'Correct .gitmodules; allow its host.',
  },
  {
    code: 'git_lfs',
    pattern:
      /git-lfs.{0,40}(?:not found|not installed)|Error downloading object: (\S{1,200})|smudge filter lfs failed|This repository is configured for Git LFS but/,
    title: 'Files of Git LFS are not available',
    cause: 'git-lfs is not in the sandbox, or its server is out of reach.',
    remedy: 'Skip them (GIT_LFS_SKIP_SMUDGE=1), or use a sandbox that has it and allow the host.',
  },
]
