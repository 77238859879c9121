import { shellQuote as quote } from '../../core/text/shell-quote.ts'
import { borrowedObjects, PROLOGUE, type WorkspaceRepository } from './workspace-commands.ts'

/**
 * Writes a bundle of what `head_sha` has and the mirror lacks to standard output; its pack is empty when the
 * mirror has everything. Exit code 0, otherwise git's.
 */
export function bundleCommand(
  input: Pick<WorkspaceRepository, 'mirror_inside' | 'base_sha'> & { head_sha: string },
): string {
  return [...PROLOGUE, 'exec 3>&1 1>&2', ...bundleFunction(input), `bundle ${quote(input.head_sha)}`].join(
    '\n',
  )
}

/**
 * Defines `bundle SHA`, which writes to descriptor 3. `git bundle` would take three further processes. What
 * is borrowed from the mirror is left out, unless the repository borrows from elsewhere too: nobody else has
 * those objects.
 */
export function bundleFunction(input: Pick<WorkspaceRepository, 'mirror_inside' | 'base_sha'>): string[] {
  const base = input.base_sha === null ? '' : `$'\\n'${quote(`^${input.base_sha}`)}`
  return [
    'bundle() {',
    '  local borrowed=() new=',
    '  if [ -f .git/objects/info/alternates ]; then mapfile -t borrowed <.git/objects/info/alternates; fi',
    `  if [ "\${borrowed[*]}" = ${borrowedObjects(input)} ]; then new=--local; fi`,
    `  printf '# v2 git bundle\\n%s ${BUNDLE_REF}\\n\\n' "$1" >&3`,
    `  g pack-objects --revs --thin --stdout --quiet --delta-base-offset $new >&3 <<<"$1"${base}`,
    '}',
  ]
}

/** The ref under which a bundle carries its one commit. */
const BUNDLE_REF = 'refs/agentrun/out'
