import { expect, test, vi } from 'vitest'
import { Parser } from 'yaml'
import { readFrontMatter } from '../../src/core/repositories/front-matter.ts'
import { PlaybookMistake, readPlaybookBlock } from '../../src/core/runs/playbook-yaml.ts'
import { MAX_PARTS, projectAt, yamlOf } from '../../src/setup-detection/tree.ts'
import { hostileToml, hostileYaml } from './hostile-yaml.ts'

const toml = vi.hoisted(() => ({ parsed: [] as string[] }))
// The library itself, with what it got.
vi.mock('smol-toml', async original => {
  const library = await original<typeof import('smol-toml')>()
  const parse: typeof library.parse = (text, options) => {
    toml.parsed.push(text)
    return library.parse(text, options)
  }
  return { ...library, parse }
})

/** Returns how many parts of YAML any parser of the process got. */
function partsOf(work: () => unknown): number {
  const parsing = vi.spyOn(Parser.prototype, 'next')
  try {
    work()
    return parsing.mock.calls.length
  } finally {
    parsing.mockRestore()
  }
}

/** Of two lexers: one counts, the other parses what is left. */
const channels: [string, { bound: number; read(text: string): unknown }][] = [
  ['front matter', { bound: 1_000, read: text => readFrontMatter(`---\n${text}\n---\nwords`) }],
  [
    'a playbook',
    {
      bound: 30_001,
      read(text) {
        try {
          readPlaybookBlock(`\`\`\`playbook\n${text}\n\`\`\``)
        } catch (error) {
          if (!(error instanceof PlaybookMistake)) throw error
        }
      },
    },
  ],
  ['a workflow or another YAML file of a repository', { bound: MAX_PARTS, read: yamlOf }],
]

test.each(channels)('what a parser gets of %s is bounded, whatever it contains', (_name, { bound, read }) => {
  let refused = 0
  for (const bytes of [6_000, 190_000])
    for (const { name, text } of hostileYaml(bytes)) {
      const parts = partsOf(() => read(text))
      expect(parts, `${name}, ${bytes} bytes`).toBeLessThanOrEqual(bound)
      if (parts === 0 || parts === bound) refused++
    }
  expect(refused).toBeGreaterThan(2)
})

test('what a parser gets of a TOML file is bounded, whatever it contains', () => {
  let refused = 0
  for (const bytes of [6_000, 190_000])
    for (const { name, text } of hostileToml(bytes)) {
      toml.parsed.length = 0
      projectAt({ paths: ['a.toml'], files: new Map([['a.toml', text]]) }, '').toml('a.toml')
      for (const given of toml.parsed)
        expect(given.match(/[,=[{]/g)?.length ?? 0, `${name}, ${bytes} bytes`).toBeLessThanOrEqual(MAX_PARTS)
      if (toml.parsed.length === 0) refused++
    }
  expect(refused).toBeGreaterThan(2)
})

test('large files that people write are read', () => {
  const step = '      - name: Run the tests\n        run: npm test -- --shard=1/4\n'
  const workflow = `jobs:\n  test:\n    steps:\n${step.repeat(1_000)}`
  expect(workflow.length).toBeGreaterThan(60_000)
  expect(yamlOf(workflow)).toMatchObject({ jobs: { test: { steps: expect.any(Array) } } })
})
