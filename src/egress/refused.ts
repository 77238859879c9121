/** The address is not allowed; a retry has the same result. */
export class RefusedAddressError extends Error {
  override name = 'RefusedAddressError'
}
