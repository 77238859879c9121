/**
 * Returns the value of a JSON text that this service wrote itself, or ships: an entry or a journal record, a
 * sealed value, a file of its data folder or of a package, for a client a response. Its shape is trusted: a
 * schema would cost an entry more than twice the time, and a worker of another version may have written it.
 * Other columns are parsed in `store`. Throws SyntaxError.
 */
export const storedJson = <T>(text: string): T => JSON.parse(text) as T
