/**
 * Returns the id of the organization with which a state begins that another service passes back; null: it is
 * not a state. In a module without schemas, so that the web page loads it alone.
 */
export function organizationOfState(state: string): number | null {
  const id = /^(\d{1,15})\./.exec(state)?.[1]
  return id === undefined ? null : Number(id)
}
