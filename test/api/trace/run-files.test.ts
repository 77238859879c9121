import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { RunFile, RunFiles } from '../../../src/contract/runs/run-files.ts'
import { digest } from '../../../src/core/access/token.ts'
import { insertToken } from '../../../src/store/access/token-access.ts'
import { allLogs, awaitEnd, awaitRun, createRun } from '../../runs/await-run.ts'
import { type CodingApp, calls, gitIn, makeRepository, shell, startCodingApp } from '../../runs/coding-app.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { expectProblem } from '../expect-problem.ts'

const SECRET = 'correct-horse-battery-staple-42'
const MIB = 1024 ** 2
const hostile = ['<img src=x onerror=alert(1)>', 'new\nline', '"quoted"', '--help', '‮gpj.exe']

/**
 * The first step writes every kind of file, the second changes two of them, the third fails to leave a file
 * that is too large.
 */
const steps = [
  [
    'ln -s /etc/passwd link; ln -s src dirlink; printf "caf\\351\\n" > latin.txt; printf "\\0\\1\\2" > data.bin',
    'mkdir src many; echo "export const a = 1" > src/a.ts; chmod +x src/a.ts; seq -f "many/file-%g" 1200 | xargs touch; mkdir many/sub; touch many/sub/x',
    'yes 0123456789abcde | head -c 1500000 > big.txt; printf "%s" "$DEPLOY_KEY" > key.txt; printf "\\0%s\\0" "$DEPLOY_KEY" > key.bin',
    `(head -c ${MIB - 10} /dev/zero | tr "\\0" x; printf "%s" "$DEPLOY_KEY"; echo end) > cut.txt`,
    `touch "$(printf "new\\nline")" "<img src=x onerror=alert(1)>" '"quoted"' -- --help "$(printf '\\342\\200\\256gpj.exe')"`,
    'mkdir "$(printf "d\\351")"; echo in > "$(printf "d\\351/x\\351")"',
  ].join('\n'),
  'rm src/a.ts; echo two > count.js',
  'head -c 5000000 /dev/zero > large.dat; echo three > count.js',
]

let app: CodingApp
let other: Tenant
let id: number
/** The entries of the three steps. */
let at: number[]
/** The newest files before the run ended. */
let while_active: RunFiles
const last_response = Promise.withResolvers<{ text: string }>()

beforeAll(async () => {
  const repository = makeRepository()
  const commit = gitIn(repository, 'rev-parse', 'HEAD').trim()
  writeFileSync(join(repository, 'huge.bin'), Buffer.alloc(16 * MIB + 1))
  gitIn(repository, 'add', 'huge.bin')
  gitIn(repository, 'update-index', '--add', '--cacheinfo', `160000,${commit},vendor`)
  gitIn(repository, 'commit', '--quiet', '-m', 'add a submodule')
  let n = 0
  const script = () => {
    const step = steps[n++]
    return step === undefined ? last_response.promise : calls(shell(step))
  }
  app = await startCodingApp(script, { AGENTRUN_CHECKPOINT_FILE_MAX_BYTES: '4000000' }, repository)
  other = await addTenant(app)
  await app.call('PUT', `/v1/organizations/${app.org_id}/secrets/DEPLOY_KEY`, {
    value: SECRET,
    for_agent: true,
  })
  id = (await createRun(app, { prompt: 'Write files' })).id
  await awaitRun(
    app,
    id,
    run => run.total_logs > 0 && run.waiting_on === 'model' && app.model.requests.length > steps.length,
  )
  at = (await allLogs(app, id)).filter(entry => entry.tool_name === 'shell').map(entry => entry.seq)
  await vi.waitFor(async () => expect(await text('count.js', at[2] ?? 0)).toBe('three\n'), 20_000)
  while_active = await list({})
  last_response.resolve({ text: 'Done.' })
  await awaitEnd(app, id)
}, 60_000)
afterAll(() => app[Symbol.asyncDispose]())

type Query = Record<string, string | number>
const request = (
  what: '' | '/text' | '/content',
  query: Query,
  of: { app?: App; id?: number; org_id?: number; token?: string } = {},
) => {
  const { org_id = app.org_id, token } = of
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, `${value}`]),
  )
  const path = `/v1/organizations/${org_id}/agent/run/${of.id ?? id}/files${what}?${search}`
  return (of.app ?? app).call('GET', path, undefined, token ? { authorization: `Bearer ${token}` } : {})
}
const list = async (query: Query, of = {}) => RunFiles.strict().parse((await request('', query, of)).body)
const names = async (query: Query, of = {}) => (await list(query, of)).items.map(({ name }) => name)
const read = async (query: Query, of = {}) => RunFile.strict().parse((await request('/text', query, of)).body)
const text = async (path: string, seq: number, of = {}) => (await read({ path, seq }, of)).text

describe('200 of a folder', () => {
  test('the files of each entry, committed or not, folders first; without one the newest', async () => {
    const [one = 0, two = 0, three = 0] = at
    expect(await names({ seq: 0 })).toEqual(['AGENTS.md', 'README.md', 'count.js', 'huge.bin', 'vendor'])
    expect(await names({ seq: one, path: 'src' })).toEqual(['a.ts'])
    expect((await request('', { seq: two, path: 'src' })).status).toBe(404)
    expect(await text('count.js', one)).toBe('export const one = 1\n')
    expect(await text('count.js', two)).toBe('two\n')
    const newest = await list({})
    // A file of the third step is too large to be kept.
    expect([newest.seq, newest.path]).toEqual([three - 1, ''])
    expect(newest.items.slice(0, 3).map(({ name, kind }) => [name, kind])).toEqual([
      ['"d\\351"', 'folder'],
      ['many', 'folder'],
      ['"quoted"', 'file'],
    ])
  })

  test('an active run has the files of its newest checkpoint, and later ones once there are', async () => {
    expect(while_active.items.map(({ name }) => name)).toContain('many')
    expect(while_active.seq).toBeGreaterThanOrEqual(at[1] ?? 0)
    expect((await list({ seq: while_active.seq })).items).toEqual(while_active.items)
  })

  test('sizes, links with their targets that nothing follows, executable files and submodules', async () => {
    const { items } = await list({ seq: at[0] ?? 0 })
    const entry = (name: string) => items.find(item => item.name === name)
    expect(entry('README.md')).toEqual({
      name: 'README.md',
      path: 'README.md',
      kind: 'file',
      executable: false,
      size: 10,
      target: null,
      commit: null,
    })
    expect(entry('link')).toMatchObject({ kind: 'link', size: null, target: '/etc/passwd' })
    expect(entry('vendor')).toMatchObject({
      kind: 'submodule',
      commit: app.git('rev-parse', 'HEAD~1').trim(),
    })
    expect((await list({ seq: at[0] ?? 0, path: 'src' })).items[0]).toMatchObject({
      path: 'src/a.ts',
      executable: true,
    })
    expect(await read({ path: 'link', seq: at[0] ?? 0 })).toMatchObject({
      kind: 'link',
      target: '/etc/passwd',
      text: null,
      binary: false,
    })
    for (const path of ['dirlink/a.ts', 'vendor/README.md', 'link/x'])
      expectProblem(await request('/text', { path, seq: at[0] ?? 0 }), 404)
  })

  test('a large folder in pages, without gaps or duplicates', async () => {
    const pages = []
    for (let skip = 0; skip < 1201; skip += 1000) pages.push(await list({ path: 'many', skip, limit: 1000 }))
    expect(pages.map(({ total, items }) => [total, items.length])).toEqual([
      [1201, 1000],
      [1201, 201],
    ])
    expect(pages[0]?.items[0]).toMatchObject({ path: 'many/sub', kind: 'folder' })
    expect(new Set(pages.flatMap(({ items }) => items.map(({ path }) => path))).size).toBe(1201)
    expect((await list({ path: 'many' })).items).toHaveLength(200)
  })

  test('a search finds paths at any depth below the folder, in any case', async () => {
    const found = await list({ q: 'FILE-29', path: '', limit: 2 })
    expect(found).toMatchObject({
      total: 11,
      complete: true,
      items: [{ name: 'file-29', path: 'many/file-29', size: 0 }, {}],
    })
    expect((await list({ q: 'sub/x', path: 'many' })).items).toMatchObject([
      { name: 'x', path: 'many/sub/x' },
    ])
    expect((await list({ q: 'many', path: 'many' })).total).toBe(0)
  })

  test('hostile names arrive exactly, and their files are read by them', async () => {
    const { items } = await list({})
    for (const name of hostile) {
      expect(items).toContainEqual(expect.objectContaining({ name, path: name, kind: 'file', size: 0 }))
      expect(await text(name, at[1] ?? 0)).toBe('')
    }
    const [inside] = (await list({ path: '"d\\351"' })).items
    expect(inside).toMatchObject({ name: '"x\\351"', path: '"d\\351/x\\351"' })
    expect(await text(inside?.path ?? '', at[1] ?? 0)).toBe('in\n')
  })

  test('another process of the API has the same files, also those of the base commit alone', async () => {
    await using elsewhere = await startApp({
      DATABASE_URL: app.database_url,
      AGENTRUN_WORKER_CONCURRENCY: '0',
    })
    expect(await names({ seq: 0 }, { app: elsewhere })).toEqual(await names({ seq: 0 }))
    expect(await text('count.js', at[1] ?? 0, { app: elsewhere })).toBe('two\n')
  })
})

describe('200 of a file', () => {
  test('text in its encoding, and binary files without text', async () => {
    const seq = at[1] ?? 0
    expect(await read({ path: 'latin.txt', seq })).toMatchObject({
      encoding: 'windows-1252',
      text: 'café\n',
      size: 5,
      text_truncated: false,
    })
    expect(await read({ path: 'data.bin', seq })).toMatchObject({
      binary: true,
      encoding: null,
      text: null,
      size: 3,
      text_truncated: false,
    })
    expect((await request('/content', { path: 'data.bin', seq })).body).toBe('\0\u0001\u0002')
  })

  test('of a large file the first MiB, and all of it as a download', async () => {
    const file = await read({ path: 'big.txt' })
    const { body } = await request('/content', { path: 'big.txt' })
    expect(body).toHaveLength(1_500_000)
    expect([file.text_truncated, file.size, body.startsWith(file.text)]).toEqual([true, 1_500_000, true])
    // The last word is held back, because it may be the beginning of a secret.
    expect(MIB - (file.text?.length ?? 0)).toBeLessThan(100)
  })

  test('a download is an attachment that no browser executes, whatever its name', async () => {
    const { status, headers } = await request('/content', { path: hostile[0] ?? '' })
    expect([status, headers.get('content-type'), headers.get('x-content-type-options')]).toEqual([
      200,
      'application/octet-stream',
      'nosniff',
    ])
    expect(headers.get('content-security-policy')).toContain("default-src 'self'")
    expect(headers.get('content-disposition')).toBe(
      `attachment; filename="_img_src_x_onerror_alert_1__"; filename*=UTF-8''%3Cimg%20src%3Dx%20onerror%3Dalert%281%29%3E`,
    )
    expect((await request('/content', { path: 'new\nline' })).headers.get('content-disposition')).toBe(
      'attachment; filename="new_line"',
    )
  })

  test('secrets are redacted, in texts and downloads, and where the limit cuts one', async () => {
    expect(await text('key.txt', at[1] ?? 0)).toBe('[redacted:DEPLOY_KEY]')
    expect((await request('/content', { path: 'key.bin' })).body).toBe('\0[redacted:DEPLOY_KEY]\0')
    const cut = (await read({ path: 'cut.txt' })).text ?? ''
    expect(cut.slice(-20)).toMatch(/^x+$/)
    expect((await request('/content', { path: 'cut.txt' })).body.slice(-30)).toMatch(
      /^x+\[redacted:DEPLOY_KEY\]end\n$/,
    )
  })
})

describe('400', () => {
  const wrong = [
    '/etc/passwd',
    '../x',
    'src/../x',
    'src//a.ts',
    'src/',
    './src',
    '.git/config',
    'vendor/.GIT',
    'a\0b',
    'x'.repeat(501),
  ]
  test.each(wrong.map(path => [path.slice(0, 20), path]))('the path %j', async (_shown, path) => {
    for (const what of ['', '/text', '/content'] as const)
      expectProblem(await request(what, { path }), 400, 'query.path')
  })

  test.each(['-1', '9999', '1e1', ''])('the entry %j', async seq => {
    for (const what of ['', '/text', '/content'] as const)
      expectProblem(await request(what, { path: 'count.js', seq }), 400, 'query.seq')
  })

  test('a missing path, a page of no size, and one that is too large', async () => {
    for (const what of ['/text', '/content'] as const)
      expectProblem(await request(what, {}), 400, 'query.path')
    for (const limit of [0, 1001]) expectProblem(await request('', { limit }), 400, 'query.limit')
  })

  test('a folder is not a file, a file is not a folder, and a link has no content', async () => {
    for (const what of ['/text', '/content'] as const)
      expectProblem(await request(what, { path: 'many' }), 400, 'query.path')
    expectProblem(await request('', { path: 'count.js' }), 400, 'query.path')
    expectProblem(await request('/content', { path: 'link' }), 400, 'query.path')
  })
})

describe('403 and 404', () => {
  test('no path leads out of the files, and an unknown one is 404', async () => {
    for (const path of [
      'none',
      'src/none',
      'README.md/x',
      'HEAD',
      'refs/heads/main',
      `${'4b825dc642cb6eb9a060e54bf8d69288fbee4904'}`,
    ])
      for (const what of ['', '/text', '/content'] as const) expectProblem(await request(what, { path }), 404)
  })

  test("another organization's run, and one of another repository for a bound token", async () => {
    const token = 'a-token-bound-to-another-repository'
    const bound = {
      user_id: app.user_id,
      kind: 'personal',
      name: 'bound',
      wire_profile: 'standard',
      expires_in_seconds: null,
    } as const
    await insertToken(app.db, {
      ...bound,
      digest: digest(token),
      organization_id: app.org_id,
      repository_ids: [424_242],
    })
    for (const what of ['', '/text', '/content'] as const) {
      expectProblem(
        await request(what, { path: 'count.js' }, { org_id: other.org_id, id: other.run_id }),
        403,
      )
      expectProblem(await request(what, { path: 'count.js' }, { id: other.run_id }), 404)
      expectProblem(await request(what, { path: 'count.js' }, { token }), 404)
    }
  })
})

describe('409', () => {
  test('a download that is too large', async () => {
    expect(await read({ path: 'huge.bin', seq: 0 })).toMatchObject({
      size: 16 * MIB + 1,
      binary: true,
      text: null,
    })
    const { detail } = expectProblem(await request('/content', { path: 'huge.bin', seq: 0 }), 409)
    expect(detail).toBe('The file has 16777217 bytes; at most 16777216 can be downloaded.')
  })

  test('files that were not kept, with the reason and the newest entry that has them', async () => {
    const [, two = 0, three = 0] = at
    const { items, left_out } = await list({ seq: three })
    expect(left_out).toEqual([{ path: 'large.dat', reason: 'too_large' }])
    expect(items.map(({ name }) => name)).not.toContain('large.dat')
    await rows(app, 'update checkpoints set through_seq = $2 where run_id = $1 and seq = $2', [id, two])
    await rows(app, 'delete from checkpoints where run_id = $1 and seq > $2', [id, two])
    for (const what of ['', '/text', '/content'] as const)
      expect(expectProblem(await request(what, { path: 'count.js', seq: three }), 409).detail).toBe(
        `The files of the run after entry ${three} are not kept. The newest entry after which they are kept is ${three - 1}.`,
      )
    await rows(app, 'delete from checkpoints where run_id = $1', [id])
    expect(expectProblem(await request('', { seq: three }), 409).detail).toContain(
      'They are not kept after any entry.',
    )
    expect(await names({ seq: 0 })).toContain('README.md')
  })
})
