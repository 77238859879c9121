/** What a person types to have a branch on their own machine; git asks for the token. Null: a name that no command should be made of. */
export function cloneCommand(origin: string, place: { organization_id: number; repo_id: number }, branch: string): string | null {
  if (!/^[A-Za-z0-9_][A-Za-z0-9_./+-]*$/.test(branch)) return null
  return `git clone --branch ${branch} ${origin}/git/${place.organization_id}/${place.repo_id}.git`
}
