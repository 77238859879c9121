type Service = { base_url: string; token: string }

/** One server-sent event as it is in the stream. */
export type StreamFrame = { event: string; id: string | null; data: string }

/**
 * An open stream: `until` reads until the frames so far fit; `closed` until the server ends it. The caller
 * closes it.
 */
export class FrameReader implements AsyncDisposable {
  readonly frames: StreamFrame[] = []
  readonly status: number
  readonly headers: Headers
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  #rest = ''

  constructor(response: Response) {
    this.status = response.status
    this.headers = response.headers
    if (!response.body) throw new Error(`no stream: ${response.status}`)
    this.#reader = response.body.getReader()
  }

  /** All frames so far. Rejects when the stream ends before they fit. */
  async until(fits: (frames: StreamFrame[]) => boolean): Promise<StreamFrame[]> {
    while (!fits(this.frames))
      if (!(await this.#more())) throw new Error(`the stream ended after ${this.frames.length} frames`)
    return this.frames
  }

  async closed(): Promise<StreamFrame[]> {
    while (await this.#more());
    return this.frames
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.#reader.read()
    const parts = (this.#rest + this.#decoder.decode(value, { stream: !done })).split('\n\n')
    this.#rest = parts.pop() ?? ''
    for (const part of parts) {
      const fields = new Map(
        part.split('\n').map(line => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
      )
      const data = fields.get('data')
      if (data !== undefined)
        this.frames.push({ event: fields.get('event') ?? 'message', id: fields.get('id') ?? null, data })
    }
    return !done
  }

  async [Symbol.asyncDispose]() {
    await this.#reader.cancel().catch(() => {})
  }
}

export async function openFrames(
  app: Service,
  path: string,
  headers: Record<string, string> = {},
): Promise<FrameReader> {
  return new FrameReader(
    await fetch(app.base_url + path, { headers: { authorization: `Bearer ${app.token}`, ...headers } }),
  )
}

/** The frames of a stream up to where they fit. */
export async function readFrames(
  app: Service,
  path: string,
  fits: (frames: StreamFrame[]) => boolean,
  headers: Record<string, string> = {},
) {
  await using reader = await openFrames(app, path, headers)
  return await reader.until(fits)
}
