import type pg from 'pg'

/** What of a connection of `pg` its types leave out. */
type CopyConnection = pg.Connection & {
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
  sendCopyFail(message: string): void
}

/** A statement as `pg` drives it, by the messages of the protocol that a COPY has. */
type CopyStatement = pg.Submittable & {
  handleCopyInResponse(connection: CopyConnection): void
  handleCopyData(message: { chunk: Buffer }, connection: CopyConnection): void
  handleCommandComplete(message: { text: string }): void
  handleReadyForQuery(): void
  handleError(error: Error): void
}

const rowsOf = (tag: string) => Number(/^COPY (\d+)$/.exec(tag)?.[1] ?? 0)

/**
 * `copy … to stdout`: gives every piece to `take`, in order; the server waits while that waits. Answers how many rows there were.
 * Rejects with the server's error, or with that of `take` once the server has said everything.
 */
export function copyOut(client: pg.Client, text: string, take: (chunk: Buffer) => Promise<void> | void): Promise<number> {
  return new Promise((resolve, reject) => {
    let rows = 0
    let failure: Error | null = null
    let taking = Promise.resolve()
    const statement: CopyStatement = {
      submit: connection => connection.query(text),
      handleCopyInResponse: connection => connection.sendCopyFail('this reads'),
      handleCopyData({ chunk }, { stream }) {
        // The parser uses its buffer again.
        const taken = failure === null ? take(Buffer.from(chunk)) : undefined
        if (taken === undefined) return
        stream.pause()
        taking = taken.then(
          () => void stream.resume(),
          error => {
            failure ??= error
            stream.resume()
          },
        )
      },
      handleCommandComplete: ({ text: tag }) => {
        rows = rowsOf(tag)
      },
      handleReadyForQuery: () => void taking.then(() => (failure === null ? resolve(rows) : reject(failure))),
      handleError: reject,
    }
    client.query(statement)
  })
}

/** `copy … from stdin` of what `chunks` give, no faster than the server takes it. Answers how many rows there are now. Rejects with the server's error or that of `chunks`. */
export function copyIn(client: pg.Client, text: string, chunks: AsyncIterable<Buffer>): Promise<number> {
  return new Promise((resolve, reject) => {
    let rows = 0
    let failure: Error | null = null
    const send = async (connection: CopyConnection) => {
      try {
        for await (const chunk of chunks) {
          if (failure !== null) return
          connection.sendCopyFromChunk(chunk)
          if (connection.stream.writableNeedDrain) await drained(connection)
        }
        connection.endCopyFrom()
      } catch (error) {
        failure ??= error as Error
        connection.sendCopyFail('the copy cannot be read on')
      }
    }
    const statement: CopyStatement = {
      submit: connection => connection.query(text),
      handleCopyInResponse: connection => void send(connection),
      handleCopyData: () => {},
      handleCommandComplete: ({ text: tag }) => {
        rows = rowsOf(tag)
      },
      handleReadyForQuery: () => resolve(rows),
      handleError(error) {
        failure ??= error
        reject(failure)
      },
    }
    client.query(statement)
  })
}

const drained = ({ stream }: CopyConnection) =>
  new Promise<void>(resolve => {
    const go = () => {
      stream.off('drain', go).off('close', go)
      resolve()
    }
    stream.on('drain', go).on('close', go)
  })
