import { expect, test } from 'vitest'
import { type JsonChannel, json_channels } from './channels.ts'
import { excessOf, parseJson, readJson, readLargeJson, responseJson } from './parse-json.ts'

const channels = Object.entries(json_channels) as [JsonChannel, (typeof json_channels)[JsonChannel]][]
const items = (count: number) => `[${Array(count).fill('{}').join()}]`

test.each(channels)(
  '%s: the bound of values passes, and one more is refused by name',
  async (channel, { values }) => {
    expect(readJson(channel, items(values - 1)).problem).toBeUndefined()
    const problem = { limit: 'values', max: values, message: `has more than ${values} values` }
    expect(readJson(channel, items(values))).toEqual({ problem })
    expect(await readLargeJson(channel, Buffer.from(items(values)))).toEqual({ problem })
    expect(await responseJson(channel, new Response(items(values)))).toBeUndefined()
  },
)

test.each(channels)('%s: depth and bytes are refused by name', (channel, { depth, bytes }) => {
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
  expect(readJson(channel, nested(depth)).problem).toBeUndefined()
  expect(readJson(channel, nested(depth + 1)).problem).toMatchObject({ limit: 'depth', max: depth })
  expect(excessOf(channel, Buffer.alloc(bytes, ' '))).toBeNull()
  expect(excessOf(channel, Buffer.alloc(bytes + 1, ' '))).toMatchObject({ limit: 'bytes', max: bytes })
})

test('a text that is not JSON is refused with a short reason, and read as undefined', () => {
  const { problem } = readJson('setting', `{"a":${'x'.repeat(100_000)}`)
  expect(problem).toMatchObject({ limit: null, message: expect.stringMatching(/^is not JSON: /) })
  expect(problem?.message.length).toBeLessThan(300)
  expect(parseJson('setting', '{')).toBeUndefined()
  expect(parseJson('setting', ' {"a":[1,"é"]} ')).toEqual({ a: [1, 'é'] })
})
