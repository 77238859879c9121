import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { artifactPath } from '../../../src/core/runs/trace/stored-entry.ts'
import { append } from '../../../src/store/runs/append.ts'
import { saveArtifact } from '../../../src/store/runs/artifacts.ts'
import { entry } from '../../../src/trace/entry.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addArtifact, addTenant, type Tenant } from '../access/second-organization.ts'
import { expectProblem } from '../expect-problem.ts'
import { putRun } from '../runs/put-run.ts'
import { readFrames } from './read-frames.ts'

let app: App
let other: Tenant
let id: number
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
  id = (await createRun(app, { prompt: 'x' })).id
})
afterAll(() => app[Symbol.asyncDispose]())

const path = (artifact_id: number | string, org_id = app.org_id) =>
  `/v1/organizations/${org_id}/artifacts/${artifact_id}`
const add = (content: string | Uint8Array, content_type?: string) =>
  addArtifact(app.db, { organization_id: app.org_id, run_id: id }, content, content_type)
const get = (artifact_id: number) =>
  fetch(app.base_url + path(artifact_id), { headers: { authorization: `Bearer ${app.token}` } })

describe('200', () => {
  test('text, byte for byte, as a file that no browser runs', async () => {
    const text = 'é\r\n\u0000\u001b[31m<script>alert(1)</script>'
    const response = await get(await add(text))
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'content-disposition': `attachment; filename="run-${id}-entry-1.txt"`,
      'content-length': `${Buffer.byteLength(text)}`,
    })
    expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.from(text))
  })

  test('binary content, byte for byte', async () => {
    const bytes = randomBytes(1024 ** 2)
    const response = await get(await add(bytes, 'application/octet-stream'))
    expect(response.headers.get('content-type')).toBe('application/octet-stream')
    expect(response.headers.get('content-disposition')).toBe(`attachment; filename="run-${id}-entry-1.bin"`)
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true)
  })
})

describe('its address', () => {
  test('is in the entry, absolute, the same in the log page, in a filtered page and in the stream', async () => {
    const run = await createRun(app, { prompt: 'x' })
    await putRun(app, run.id, 'running')
    const [row] = await rows<{ epoch: number }>(app, 'select epoch from runs where id = $1', [run.id])
    const artifact = {
      content_type: 'text/plain; charset=utf-8',
      content: Buffer.from('all of it'),
      total_bytes: 9,
    }
    const artifact_id =
      (await saveArtifact(app.db, app.org_id, run.id, row?.epoch ?? 0, { ...artifact, max_bytes: 100 })) ?? 0
    const quoting = `"artifact_url":"${artifactPath(1, 2)}"}`
    const truncated = entry({
      message_type: 'ACTION',
      tool_name: 'shell',
      truncated: true,
      artifact_url: artifactPath(app.org_id, artifact_id),
    })
    const later = { quoting, artifact_url: artifactPath(1, 2) }
    await append(app.db, app.org_id, run.id, row?.epoch ?? 0, {
      entries: [
        { ...truncated, json: JSON.stringify({ ...JSON.parse(truncated.json), later }) },
        entry({ message_type: 'ACTION', tool_name: 'shell', thought: quoting }),
      ],
    })
    const logs = `/v1/organizations/${app.org_id}/agent/run/${run.id}`
    const { body } = await app.call('GET', `${logs}/logs`)
    const { artifact_url, seq } = body.logs[1]
    expect(artifact_url).toBe(`${app.base_url}${path(artifact_id)}`)
    expect(body.logs[1].later).toEqual(later)
    expect(body.logs[2]).toMatchObject({ artifact_url: null, thought: quoting })
    expect(await rows(app, 'select seq from artifacts where id = $1', [artifact_id])).toEqual([{ seq }])
    expect((await app.call('GET', `${logs}/logs?tool_name=shell`)).body.logs[0]).toEqual(body.logs[1])
    const frames = await readFrames(app, `${logs}/events`, seen => seen.length >= 3)
    expect(JSON.parse(frames[1]?.data ?? '')).toEqual(body.logs[1])
    expect(
      await (await fetch(artifact_url, { headers: { authorization: `Bearer ${app.token}` } })).text(),
    ).toBe('all of it')
  })

  test('at most the limit of a run is stored, and nothing for a fenced worker', async () => {
    const run = await createRun(app, { prompt: 'x' })
    await putRun(app, run.id, 'running')
    const [row] = await rows<{ epoch: number }>(app, 'select epoch from runs where id = $1', [run.id])
    const save = (bytes: number, epoch = row?.epoch ?? 0) =>
      saveArtifact(app.db, app.org_id, run.id, epoch, {
        content_type: 'x',
        content: Buffer.alloc(bytes),
        total_bytes: bytes,
        max_bytes: 100,
      })
    expect(await save(10, -1)).toBeUndefined()
    expect(await save(60)).toEqual(expect.any(Number))
    expect(await save(41)).toBeUndefined()
    expect(await save(40)).toEqual(expect.any(Number))
    expect(
      await rows(
        app,
        `select artifact_bytes, (select sum(length(content)) from artifacts where run_id = runs.id) as kept
          from runs
          where id = $1`,
        [run.id],
      ),
    ).toEqual([{ artifact_bytes: 100, kept: 100 }])
  })

  test('it is deleted with its run', async () => {
    const run = await createRun(app, { prompt: 'x' })
    const artifact_id = await addArtifact(app.db, { organization_id: app.org_id, run_id: run.id }, 'x')
    await putRun(app, run.id, 'completed')
    await app.call('DELETE', `/v1/organizations/${app.org_id}/agent/run/${run.id}`)
    expectProblem(await app.call('GET', path(artifact_id)), 404)
  })
})

describe('400', () => {
  test.each(['x', '01', '-1', '1e3'])('the path names none: %s', async artifact_id => {
    expectProblem(await app.call('GET', path(artifact_id)), 400, 'path.artifact_id')
  })
})

describe('401, 403 and 404', () => {
  test('without a token; of another organization by either path, with the message for a nonexistent one', async () => {
    expectProblem(await app.call('GET', path(await add('x')), undefined, { authorization: '' }), 401)
    expectProblem(await app.call('GET', path(other.artifact_id, other.org_id)), 403)
    const foreign = expectProblem(await app.call('GET', path(other.artifact_id)), 404)
    const unknown = expectProblem(await app.call('GET', path(424_242)), 404)
    expect({ ...foreign, request_id: '', instance: '' }).toEqual({ ...unknown, request_id: '', instance: '' })
  })
})
