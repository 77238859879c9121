/**
 * The command that clones a branch; git prompts for the token. Null for a name that is unsafe in a shell
 * command.
 */
export function cloneCommand(
  origin: string,
  repository: { organization_id: number; repo_id: number },
  branch: string,
): string | null {
  if (!/^[A-Za-z0-9_][A-Za-z0-9_./+-]*$/.test(branch)) return null
  return `git clone --branch ${branch} ${origin}/git/${repository.organization_id}/${repository.repo_id}.git`
}
