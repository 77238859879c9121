import { vi } from 'vitest'
import { JsonMeter } from '../../src/core/json/json-meter.ts'

const open = {
  bytes: Number.POSITIVE_INFINITY,
  depth: Number.POSITIVE_INFINITY,
  values: Number.POSITIVE_INFINITY,
}

/**
 * What every parser of this process got since the last `take`: those of libraries too, which call JSON.parse,
 * or `json` of a response.
 */
type ParsedCount = Disposable & { take(): { values: number } }

/** Counts the values of the largest text that was parsed. */
export function countParsed(): ParsedCount {
  let largest = 0
  const count = (text: unknown) => {
    const meter = new JsonMeter(open)
    meter.add(Buffer.from(String(text)))
    largest = Math.max(largest, meter.values)
  }
  const { parse } = JSON
  const parsing = vi.spyOn(JSON, 'parse').mockImplementation((text, reviver) => {
    count(text)
    return parse(text, reviver)
  })
  const reading = vi.spyOn(Response.prototype, 'json').mockImplementation(async function (this: Response) {
    const text = await this.text()
    count(text)
    return parse(text)
  })
  return {
    take() {
      const values = largest
      largest = 0
      return { values }
    },
    [Symbol.dispose]() {
      parsing.mockRestore()
      reading.mockRestore()
    },
  }
}
