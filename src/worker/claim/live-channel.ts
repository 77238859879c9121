import type { NearLimit } from '../../core/runs/budget/near-limits.ts'
import type { RunWriter } from './run-writer.ts'
import { type LivePart, ThrottledText } from './throttled-text.ts'

/** Shorter than the interval of live text: viewers see a tool before they see its output. */
const TOOL_DELAY_MS = 30
const MAX_TOOL_BYTES = 6_000

type RunningTool = { id: string; name: string; input: Record<string, unknown> | null }

/**
 * What the viewers of a claimed run see as it happens: running tools, their output and generated text.
 * Nothing of it is stored.
 */
export class LiveChannel {
  /** 1 after progress, until the thread that renews leases takes it. */
  readonly progress = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  readonly #writer: RunWriter
  readonly #text = new ThrottledText((event, data) => this.#send(event, data))
  #timer: NodeJS.Timeout | null = null
  #tool: RunningTool | null = null

  constructor(writer: RunWriter) {
    this.#writer = writer
  }

  /** The run made progress that leaves no entry yet; the next heartbeat records it. */
  progressed() {
    Atomics.store(this.progress, 0, 1)
  }

  /** Announces a tool, unless it ends before the delay is over: then its entry is enough. */
  toolStarted({ id, name, input }: RunningTool) {
    this.#tool = { id, name, input }
    const started_at = new Date().toISOString()
    this.#timer = setTimeout(() => {
      if (!this.#writer.viewers.present) return
      const started = {
        call_id: id,
        tool_name: name,
        tool_input: input && this.#writer.redactor.small(input),
        started_at,
      }
      const data = JSON.stringify(started)
      this.#send(
        'tool',
        Buffer.byteLength(data) < MAX_TOOL_BYTES ? data : JSON.stringify({ ...started, tool_input: {} }),
      )
    }, TOOL_DELAY_MS)
  }

  /** The tool that runs at this moment, redacted. */
  get tool(): RunningTool | null {
    return (
      this.#tool && {
        ...this.#tool,
        input: this.#tool.input && this.#writer.redactor.small(this.#tool.input),
      }
    )
  }

  /** Sends the notice about limits that the agent received. */
  limitsNear(limits: NearLimit[]) {
    this.#send('notice', JSON.stringify({ limits }))
  }

  /** Sends the output that was held back for redaction. */
  async toolEnded(): Promise<void> {
    this.#tool = null
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    await this.#text.end('output')
  }

  addText(part: LivePart & { text: string }) {
    this.progressed()
    this.#text.add(part, this.#writer.redactor, this.#writer.viewers.present)
  }

  /** Sends the text of the model that was held back for redaction. */
  async responseEnded(): Promise<void> {
    await this.#text.end('text')
  }

  /** Sends what the texts that have not ended contain so far, for a viewer that has just come. */
  sendSoFar() {
    this.#text.sendSoFar()
  }

  #send(event: string, data: string) {
    this.#writer.publish(`{"event":"${event}","data":${data}}`)
  }

  close() {
    void this.toolEnded()
  }
}
