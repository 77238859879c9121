/** A server could not be used. The message is for people, and begins with `It`. */
export class McpError extends Error {
  override name = 'McpError'
  readonly kind: 'timeout' | 'failed'
  /** Whether the server has answered, with an error. */
  readonly responded: boolean

  constructor(kind: McpError['kind'], message: string, responded = false) {
    super(message.toWellFormed())
    this.kind = kind
    this.responded = responded
  }
}
