/** A request that is refused: the status and text that the program gets. */
export class GatewayRefusal extends Error {
  override name = 'GatewayRefusal'
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}
