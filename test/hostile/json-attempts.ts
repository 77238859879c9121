import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import type { Random } from '../chaos/random.ts'
import { hostileJson } from '../json/hostile-json.ts'
import { type Attempt, requestBytes } from './send-bytes.ts'

/** Where JSON is accepted by HTTP. `before` and `after` put a text where it is read. */
type JsonTarget = { line: string; before: string; after: string; headers: Record<string, string> }

const initialize =
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":'
const called = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_agent_runs","arguments":'

/** `at`: the path of an organization. `hook`: the path of deliveries of a connected forge. */
export function jsonTargets(at: string, hook: string, token: string): JsonTarget[] {
  const authorized = { authorization: `Bearer ${token}`, accept: 'application/json, text/event-stream' }
  const gitea = { 'x-gitea-signature': 'a'.repeat(64), 'x-gitea-event': 'push', 'x-gitea-delivery': 'one' }
  const github = {
    'x-hub-signature-256': `sha256=${'a'.repeat(64)}`,
    'x-github-event': 'push',
    'x-github-delivery': 'one',
  }
  const bare = (line: string, headers: Record<string, string> = authorized) => ({
    line,
    before: '',
    after: '',
    headers,
  })
  const member = (line: string, before: string) => ({ line, before, after: '}', headers: authorized })
  const legacy = (profile: string) => at.replace('/v1/', `/v1/${profile}/`)
  return [
    bare(`POST ${at}/agent/run`),
    bare(`POST ${legacy('alpha')}/agent/run/resume`),
    bare(`POST ${legacy('beta')}/agent/run/resume`),
    member(`POST ${at}/agent/run`, '{"prompt":"","metadata":'),
    member(`POST ${at}/agent/run`, '{"prompt":"","images":'),
    member(`PUT ${at}/mcp-servers/wide`, '{"command":"a","environment":'),
    bare('POST /mcp'),
    { line: 'POST /mcp', before: initialize, after: '}}', headers: authorized },
    { line: 'POST /mcp', before: called, after: '}}', headers: authorized },
    bare(`POST ${hook}`, gitea),
    bare('POST /hooks/github/999', github),
    bare('POST /hooks/gitea/999', gitea),
    bare('POST /oauth/register', {}),
    bare('POST /oauth/token', {}),
    bare('POST /session', {}),
    bare('POST /session/invitation/accept', {}),
  ]
}

const types = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json; charset=utf-16',
  'a/b',
  '/',
]
const sizes = [200, 2_000, 20_000]
const texts = sizes.map(hostileJson)
const zeros = Buffer.alloc(20_000_000, '[')
/** Bodies that are small until they are decompressed, and others that are not of the named coding. */
const compressed = [
  { coding: 'gzip', body: gzipSync(zeros) },
  { coding: 'deflate', body: deflateSync(zeros) },
  { coding: 'br', body: brotliCompressSync(zeros) },
  { coding: 'gzip', body: gzipSync(gzipSync(zeros)) },
  { coding: 'gzip, gzip', body: gzipSync(gzipSync(zeros)) },
  { coding: 'gzip', body: gzipSync('{"prompt":"x"}').subarray(0, 12) },
  { coding: 'gzip', body: Buffer.from('{}') },
  { coding: 'identity', body: Buffer.from('{}') },
  { coding: 'zstd', body: Buffer.from('{}') },
]

/** One hostile body of JSON. */
export function jsonAttempt(random: Random, targets: readonly JsonTarget[]): Attempt {
  const { line, before, after, headers } = random.of(targets)
  const json = { 'content-type': 'application/json', ...headers }
  const name = line.replace(/\d+/g, 'N')
  if (random.chance(0.1)) {
    const { coding, body } = random.of(compressed)
    return {
      name: `compressed: ${name}`,
      parts: requestBytes(line, { ...json, 'content-encoding': coding }, body),
    }
  }
  const { name: kind, text } = random.of(random.of(texts))
  const body = before + text + after
  if (random.chance(0.1)) {
    const parts = requestBytes(line, { ...json, 'content-type': random.of(types) }, body)
    return { name: `another type: ${name}`, parts }
  }
  const parts = requestBytes(line, json, body)
  if (!random.chance(0.1)) return { name: `json: ${kind}: ${name}`, parts }
  return {
    name: `cut: ${name}`,
    parts: [parts[0] ?? '', body.slice(0, body.length / 2)],
    drops: 'after_write',
  }
}
