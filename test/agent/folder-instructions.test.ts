import { expect, test } from 'vitest'
import { applyCompaction } from '../../src/agent/compaction/compaction.ts'
import { toolMessage } from '../../src/agent/conversation.ts'
import { deliverInstructions } from '../../src/agent/folder-instructions.ts'
import type { ToolResult } from '../../src/agent/tool.ts'
import { createBackgroundRedactor } from '../../src/redaction/background-redactor.ts'

const SECRET = 'kQ7wXz2mN9pLr4Ts'
const texts: Record<string, string> = { 'a/AGENTS.md': `Rule ${SECRET}. ${'x'.repeat(500)}`, 'a/b/AGENTS.md': 'y'.repeat(25_000) }
const input = {
  redactor: createBackgroundRedactor([{ name: 'TOKEN', value: SECRET }]),
  folder_instructions: {
    folders: new Map([
      ['a', ['a/AGENTS.md']],
      ['a/b', ['a/b/AGENTS.md']],
    ]),
    async read([path = '']: string[]) {
      return { path, text: texts[path] ?? '', bytes: texts[path]?.length ?? 0, truncated: false }
    },
  },
}
const call = (name: string, path: string) => ({ id: 'c1', name, input: { path } })
const done = (output: Record<string, unknown> = {}): ToolResult => ({
  ...{ status: 'ok', output: { status: 'ok', ...output }, duration_ms: 1, truncated: false, whole: null },
})
const pathsFor = async (name: string, path: string, result = done()) =>
  (await deliverInstructions(input, [], call(name, path), result))?.instructions.map(file => file.path) ?? null

test('instructions count below their folder, however the path is written, and for each tool that names files', async () => {
  expect(await pathsFor('read', 'a/x.ts')).toEqual(['a/AGENTS.md'])
  expect(await pathsFor('edit', '/workspace/./a//c/../b/x.ts')).toEqual(['a/AGENTS.md', 'a/b/AGENTS.md'])
  expect(await pathsFor('search', 'a')).toEqual(['a/AGENTS.md'])
  expect(await pathsFor('apply_patch', '', done({ files: [{ change: 'updated', path: 'a/x.ts' }] }))).toEqual(['a/AGENTS.md'])
  for (const path of ['ab/x.ts', 'a/../x.ts', '/a/x.ts', '/etc/a/x']) expect(await pathsFor('read', path), path).toBeNull()
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
