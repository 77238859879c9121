import { expect, test } from 'vitest'
import { artifactPath, type EntryContent, entryHead, entryTail, shownEntry } from './stored-entry.ts'

const path = artifactPath(1, 2)
const quoted = `,"artifact_url":"${path}"}`
const head = { agent_run_id: 1, seq: 2, created_at: '2026-11-20T10:30:00.000Z', turn: 3 }
const stored = (content: EntryContent) => entryHead(head) + entryTail(content)
const contents = [
  {
    message_type: 'ACTION',
    tool_input: { x: 1, artifact_url: path },
    thought: quoted,
    later: { x: 1, artifact_url: path },
  },
  { later: quoted, message_type: 'ACTION', tool_input: { nested: [{ x: 1, artifact_url: path }] } },
  {
    artifact_urls: [path],
    message_type: 'ACTION',
    turns: 7,
    later: [quoted, { x: null, artifact_url: null }],
  },
]

test.each(contents)(
  'the address of an artifact is created where an entry is shown, whatever else it has, in any order: %j',
  content => {
    const json = JSON.stringify(content)
    expect(JSON.parse(shownEntry(stored({ json, artifact_url: path }), 'https://a.example/"'))).toEqual({
      ...head,
      ...content,
      artifact_url: `https://a.example/"${path}`,
    })
    const without = stored({ json, artifact_url: null })
    expect(JSON.parse(without)).toEqual({ ...head, ...content, artifact_url: null })
    expect(shownEntry(without, 'https://a.example')).toBe(without)
  },
)

test('an entry that was stored by an earlier version is shown', () => {
  const earlier = (artifact_url: string) =>
    `{"agent_run_id":1,"seq":2,"created_at":"2026-11-20T10:30:00.000Z","turn":3,"message_type":"ACTION","thought":null,"tool_name":"shell","tool_input":{"command":"ls"},"tool_output":{"output":"[redacted:A]"},"observation":null,"duration_ms":1,"truncated":true,"redactions":{"A":1},"artifact_url":${artifact_url}}`
  expect(shownEntry(earlier(`"${path}"`), 'https://a.example')).toBe(earlier(`"https://a.example${path}"`))
  expect(shownEntry(earlier('null'), 'https://a.example')).toBe(earlier('null'))
})
