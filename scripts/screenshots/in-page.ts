/** The functions of this file run in the page, so each contains all that it needs. */

/**
 * Lets the script rewrite the responses of the API before the page reads them, by its function `steadyJson`.
 * `pending` counts those that the page waits for.
 */
export function rewriteResponses(): void {
  const page = globalThis as unknown as {
    pending: number
    fetch: typeof fetch
    steadyJson(json: string, live: boolean): Promise<string>
  }
  const original = page.fetch
  const frames = () => {
    let rest = ''
    return new TransformStream<string, string>({
      async transform(chunk, controller) {
        const lines = (rest + chunk).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines)
          controller.enqueue(
            `${line.startsWith('data: {') ? `data: ${await page.steadyJson(line.slice('data: '.length), true)}` : line}\n`,
          )
      },
    })
  }
  page.pending = 0
  page.fetch = async (input, init) => {
    page.pending++
    try {
      const response = await original(input, init)
      const { status, headers } = response
      const type = headers.get('content-type') ?? ''
      if (type.includes('event-stream') && response.body) {
        const text = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(frames())
        return new Response(text.pipeThrough(new TextEncoderStream()), { status, headers })
      }
      if (!type.includes('json') || response.url.endsWith('/openapi.json')) return response
      const text = await response.text()
      return new Response(text === '' ? null : await page.steadyJson(text, false), { status, headers })
    } finally {
      page.pending--
    }
  }
}

/** Adds the fonts that the style of the page names first, so that no font of the machine is used. */
export function addFonts(fonts: { family: string; base64: string }[]): void {
  const { document, FontFace } = globalThis as unknown as {
    document: { fonts: { add(font: unknown): void } }
    FontFace: new (
      family: string,
      data: Uint8Array,
      options: { weight: string },
    ) => { load(): Promise<unknown> }
  }
  for (const { family, base64 } of fonts) {
    const font = new FontFace(
      family,
      Uint8Array.from(atob(base64), letter => letter.charCodeAt(0)),
      { weight: '100 900' },
    )
    void font.load()
    document.fonts.add(font)
  }
}
