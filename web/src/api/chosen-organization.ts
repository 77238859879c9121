const KEY = 'organization'

/** The organization that the user chose in this browser; null: no choice, or the browser keeps nothing. */
export function chosenOrganization(): number | null {
  try {
    return Number(localStorage.getItem(KEY)) || null
  } catch {
    return null
  }
}

/** Keeps the choice for later visits, where the browser allows it. */
export function chooseOrganization(id: number): void {
  try {
    localStorage.setItem(KEY, String(id))
  } catch {}
}
