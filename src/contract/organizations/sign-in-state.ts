/**
 * Returns the id of the organization with which the state of a sign-in begins; null: it is no state. In a module without schemas, so that the
 * web page loads it alone.
 */
export function organizationOfState(state: string): number | null {
  const id = /^(\d{1,15})\./.exec(state)?.[1]
  return id === undefined ? null : Number(id)
}
