import { expect, test } from 'vitest'
import { applyCompaction } from '../../src/agent/compaction/compaction.ts'
import { toolMessage } from '../../src/agent/conversation.ts'
import { deliverInstructions } from '../../src/agent/folder-instructions.ts'
import type { ToolResult } from '../../src/agent/tool.ts'
import { toolResultText } from '../../src/core/text/tool-result-text.ts'
import { createBackgroundRedactor } from '../../src/redaction/background-redactor.ts'
import { RedactionError } from '../../src/redaction/port.ts'

const SECRET = 'kQ7wXz2mN9pLr4Ts'
const texts: Record<string, string> = {
  'a/AGENTS.md': `Rule ${SECRET}. ${'x'.repeat(500)}`,
  'a/b/AGENTS.md': 'y'.repeat(25_000),
}
const input = {
  redactor: createBackgroundRedactor([{ name: 'TOKEN', value: SECRET }]),
  folder_instructions: {
    folders: new Map([
      ['a', ['a/AGENTS.md']],
      ['a/b', ['a/b/AGENTS.md']],
    ]),
    read: async (candidates: string[][]) =>
      candidates.map(([path = '']) => ({
        path,
        text: texts[path] ?? '',
        bytes: texts[path]?.length ?? 0,
        truncated: false,
      })),
  },
}
const call = (name: string, path: string) => ({ id: 'c1', name, input: { path } })
const done = (output: Record<string, unknown> = {}): ToolResult => ({
  status: 'ok',
  output: { status: 'ok', ...output },
  duration_ms: 1,
  truncated: false,
  whole: null,
})
const pathsFor = async (name: string, path: string, result = done()) =>
  (await deliverInstructions(input, [], call(name, path), result))?.instructions.map(file => file.path) ??
  null

test('instructions count below their folder, however the path is written, and for each tool that names files', async () => {
  expect(await pathsFor('read', 'a/x.ts')).toEqual(['a/AGENTS.md'])
  expect(await pathsFor('edit', '/workspace/./a//c/../b/x.ts')).toEqual(['a/AGENTS.md', 'a/b/AGENTS.md'])
  expect(await pathsFor('search', 'a')).toEqual(['a/AGENTS.md'])
  expect(await pathsFor('apply_patch', '', done({ files: [{ change: 'updated', path: 'a/x.ts' }] }))).toEqual(
    ['a/AGENTS.md'],
  )
  for (const path of ['ab/x.ts', 'a/../x.ts', '/a/x.ts', '/etc/a/x'])
    expect(await pathsFor('read', path), path).toBeNull()
  expect(await pathsFor('shell', 'a/x.ts')).toBeNull()
  expect(await pathsFor('read', 'a/x.ts', { ...done(), status: 'error' })).toBeNull()
})

test('the nearest instructions get the characters first, and secrets are redacted', async () => {
  const delivered = await deliverInstructions(input, [], call('read', 'a/b/x.ts'), done())
  expect(delivered?.instructions).toMatchObject([
    { path: 'a/AGENTS.md', text: '', truncated: true },
    { path: 'a/b/AGENTS.md', truncated: false },
  ])
  const [alone] = (await deliverInstructions(input, [], call('read', 'a/x.ts'), done()))?.instructions ?? []
  expect(alone?.text).toMatch(/^Rule \[redacted:TOKEN\]\. x/)
})

test('instructions are delivered once, and again after a compaction removed them', async () => {
  const first = await deliverInstructions(input, [], call('read', 'a/x.ts'), done())
  const messages = [toolMessage({ id: 'c1', name: 'read' }, { status: 'ok', ...first })]
  expect(await deliverInstructions(input, messages, call('read', 'a/y.ts'), done())).toBeNull()
  const cleared = applyCompaction(messages, { clear_through: 'c1', summary: null })
  expect(await deliverInstructions(input, cleared, call('read', 'a/y.ts'), done())).toEqual(first)
})

/** Instructions of `a`, `a/a` and so on, all with one text; `reads`: what was read at once. */
function nested(depth: number) {
  const folders = new Map(
    Array.from({ length: depth }, (_, n) =>
      Array(n + 1)
        .fill('a')
        .join('/'),
    ).map(at => [at, [`${at}/AGENTS.md`]]),
  )
  const reads: string[][][] = []
  const read = async (candidates: string[][]) => {
    reads.push(candidates)
    return candidates.map(([path = '']) => ({ path, text: 'One rule.', bytes: 9, truncated: false }))
  }
  return {
    reads,
    input: { ...input, folder_instructions: { folders, read } },
    deepest: `${'a/'.repeat(depth)}x.ts`,
  }
}

test('a copy is known by a note, and is neither read nor delivered again', async () => {
  const { reads, input: copies, deepest } = nested(2)
  const first = await deliverInstructions(copies, [], call('read', deepest), done())
  const text = toolResultText('read', { status: 'ok', ...first })
  expect(text.match(/One rule\./g)).toHaveLength(1)
  expect(text).toContain('[a/AGENTS.md has the same text as a/a/AGENTS.md.]')
  const messages = [toolMessage({ id: 'c1', name: 'read' }, { status: 'ok', ...first })]
  expect(await deliverInstructions(copies, messages, call('read', deepest), done())).toBeNull()
  expect(reads).toHaveLength(1)
})

test('nested folders are read at once, at most 20 with one result, the nearest first and the others with the next', async () => {
  const { reads, input: many, deepest } = nested(30)
  const first = await deliverInstructions(many, [], call('read', deepest), done())
  expect(reads.map(({ length }) => length)).toEqual([20])
  expect(first?.instructions.at(-1)?.path).toBe(`${'a/'.repeat(30)}AGENTS.md`)
  const messages = [toolMessage({ id: 'c1', name: 'read' }, { status: 'ok', ...first })]
  const second = await deliverInstructions(many, messages, call('read', deepest), done())
  expect(reads.map(({ length }) => length)).toEqual([20, 10])
  expect(second?.instructions[0]?.path).toBe('a/AGENTS.md')
})

test('instructions that cannot be redacted are left out with a note, and the result stays', async () => {
  const value = () => Promise.reject(new RedactionError('the thread ended'))
  const delivered = await deliverInstructions(
    { ...input, redactor: { ...input.redactor, value } },
    [],
    call('read', 'a/x.ts'),
    done(),
  )
  const text = toolResultText('read', {
    status: 'ok',
    content: 'x\n',
    path: 'a/x.ts',
    first_line: 1,
    last_line: 1,
    total_lines: 1,
    ...delivered,
  })
  expect(text).toMatch(/^x\n\n\[a\/AGENTS\.md is left out, because it could not be redacted\./)
  expect(JSON.stringify(delivered)).not.toContain(SECRET)
})
