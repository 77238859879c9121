type Reason = 'git_unavailable' | 'setup_failed'

/** The run cannot start. `reason`: the status reason; the message is for a person. */
export class StartError extends Error {
  override name = 'StartError'
  readonly reason: Reason
  readonly code: string
  readonly phase: 'clone' | 'setup'
  constructor(reason: Reason, code: string, message: string, phase: 'clone' | 'setup' = 'clone') {
    super(message)
    this.reason = reason
    this.code = code
    this.phase = phase
  }
}
