/** The address is not allowed; a retry has the same result. */
export class Refused extends Error {
  override name = 'Refused'
}
