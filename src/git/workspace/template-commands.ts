import { shellQuote as quote } from '../../core/text/shell-quote.ts'
import {
  cloneCommand,
  initRepository,
  PROLOGUE,
  REMOVE_REPOSITORY,
  type WorkspaceRepository,
} from './workspace-commands.ts'

/** Printed by `onTemplateCommand` when the files were not those of the template. */
export const TEMPLATE_DAMAGED = 'agentrun: the prepared files were damaged and are checked out again'

/**
 * Returns a command for a folder that many workspaces will copy: it creates the files of `base_sha`, and only
 * those files of the repository that git tracks.
 */
export function templateCommand(input: { mirror_inside: string; base_sha: string }): string {
  const no_author = { branch: 'template', origin_url: 'none', author_name: 'none', author_email: 'none' }
  return [cloneCommand({ ...input, ...no_author }), ...AGE_FILES, ...STRIP].join('\n')
}

/** Older than the index: git would compare files that are as new as the index each time. */
const AGE_FILES = [
  `g ls-files -z | xargs -0 -r touch --no-create --no-dereference --date='10 seconds ago' --`,
  'g update-index --refresh >/dev/null',
]
/**
 * Keeps of the repository only what git tracks, some of which may have been changed since, and submodules.
 */
const STRIP = [
  'g update-index -q --refresh >/dev/null || true',
  'find .git -mindepth 1 -maxdepth 1 ! -name index ! -name modules -exec rm -rf {} +',
]

/** That submodules are in use is recorded in the configuration, which every run has its own of. */
const KNOW_SUBMODULES = [
  'if [ -d .git/modules ] && [ -f .gitmodules ]; then g submodule --quiet init || true; fi',
]

/**
 * Returns a command for a workspace as it was cloned, before setup commands prepare an environment in it.
 * Exit code 0, otherwise git's.
 */
export function beforeEnvironmentCommand(): string {
  return [...PROLOGUE, ...AGE_FILES].join('\n')
}

/**
 * Turns the result of the setup commands into a folder that many workspaces will copy. Exit code 0, otherwise
 * git's.
 */
export function afterEnvironmentCommand(): string {
  return [...PROLOGUE, ...STRIP].join('\n')
}

/**
 * Returns a command for a copy of an environment that was prepared at `made_at_sha`: it creates the
 * repository at `base_sha`, beside the prepared files. Changes of the setup to tracked files stay, unless the
 * two commits differ in that file. Exit code 0, otherwise git's.
 */
export function onEnvironmentCommand(
  input: WorkspaceRepository & { base_sha: string; made_at_sha: string },
): string {
  const [made_at, sha] = [quote(input.made_at_sha), quote(input.base_sha)]
  return [
    ...PROLOGUE,
    ...initRepository(input),
    ...KNOW_SUBMODULES,
    `if [ -f .git/index ] && g reset --quiet --soft ${made_at} 2>/dev/null; then`,
    '  g update-index -q --refresh >/dev/null || true',
    `  if [ ${made_at} = ${sha} ]; then exit 0; fi`,
    `  if g read-tree -m -u ${made_at} ${sha} 2>/dev/null; then g update-ref HEAD ${sha}; exit 0; fi`,
    'fi',
    `g reset --quiet --hard ${sha}`,
  ].join('\n')
}

/**
 * Returns a command for a copy of the template of `base_sha`: it has the same result as `cloneCommand` in an
 * empty folder. Exit code 0, otherwise git's.
 */
export function onTemplateCommand(input: WorkspaceRepository & { base_sha: string }): string {
  const sha = quote(input.base_sha)
  return [
    ...PROLOGUE,
    ...initRepository(input),
    `if ! { [ -f .git/index ] && g reset --quiet --soft ${sha} && g update-index --refresh; } >/dev/null 2>&1; then`,
    `echo ${quote(TEMPLATE_DAMAGED)}`,
    cloneCommand(input),
    'fi',
  ].join('\n')
}

/**
 * Returns a command for a copy of an environment as well: it creates the files of `base_sha` exactly as in
 * that commit, beside the prepared files. Exit code 0, otherwise git's.
 */
export function exactlyOnEnvironmentCommand(
  input: WorkspaceRepository & { base_sha: string; made_at_sha: string },
): string {
  return [
    ...PROLOGUE,
    ...initRepository(input),
    // Unchanged files need not be written again.
    `if [ -f .git/index ] && g reset --quiet --soft ${quote(input.made_at_sha)} 2>/dev/null; then g update-index -q --refresh >/dev/null || true; fi`,
    `g reset --quiet --hard ${quote(input.base_sha)}`,
  ].join('\n')
}

/**
 * Returns a command for a workspace whose setup commands have run at `made_at_sha`: it creates the files of
 * `base_sha` exactly as in that commit, beside the prepared files. Unchanged files are detected by content,
 * because nothing that the commands left in `.git` is trusted; they keep their modification times, which make
 * relies on. Exit code 0, otherwise git's.
 */
export function exactlyBesideCommand(
  input: WorkspaceRepository & { base_sha: string; made_at_sha: string },
): string {
  return [
    ...[...PROLOGUE, ...REMOVE_REPOSITORY, ...initRepository(input)],
    `g read-tree ${quote(input.made_at_sha)}`,
    'g update-index -q --refresh >/dev/null || true',
    `g reset --quiet --hard ${quote(input.base_sha)}`,
  ].join('\n')
}
