import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { pktLine } from '../../../src/git/process/pkt-line.ts'
import { startGit } from './start-git.ts'

const { app } = await startGit()

describe('requests of other clients than git', () => {
  const auth = { authorization: `Basic ${Buffer.from('x:').toString('base64')}` }
  const request = async (
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body?: string | Uint8Array<ArrayBuffer>,
  ) => {
    const authorization = `Basic ${Buffer.from(`git:${app.token}`).toString('base64')}`
    const response = await fetch(app.base_url + path, {
      method,
      headers: { authorization, ...headers },
      ...(body !== undefined && { body }),
    })
    return { status: response.status, text: await response.text() }
  }
  const base = () => `/git/${app.org_id}/${app.repo_id}.git`
  const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
    request(
      'POST',
      `${base()}/git-upload-pack`,
      { 'content-type': 'application/x-git-upload-pack-request', 'git-protocol': 'version=2', ...headers },
      body,
    )

  test('401 for an empty password', async () => {
    expect((await request('GET', `${base()}/info/refs?service=git-upload-pack`, auth)).status).toBe(401)
  })

  test.each([
    ['no service', '/info/refs', 400],
    ['another service', '/info/refs?service=git-upload-archive', 400],
    ['two services', '/info/refs?service=git-upload-pack&service=git-receive-pack', 400],
    ['an option for a service', '/info/refs?service=--help', 400],
    ['a file', '/HEAD', 404],
    ['a file by a longer way', '/info/refs/../../config', 404],
    ['an encoded way out', '/%2e%2e%2f%2e%2e%2fconfig', 404],
    ['an object', '/objects/info/packs', 404],
  ])('%s is refused', async (_what, path, status) => {
    expect((await request('GET', base() + path)).status).toBe(status)
  })

  test.each([
    '..%2f1',
    '1%2f..',
    '-1',
    '1;id',
    '0x1',
    '--upload-pack=id',
    '1%00',
    '１',
    '99999999999999999999',
  ])('no repository is named %s', async name => {
    const { status } = await request(
      'GET',
      `/git/${app.org_id}/${name}.git/info/refs?service=git-upload-pack`,
    )
    expect([400, 404]).toContain(status)
  })

  test('405 for other methods, 415 for other types, 400 for an invalid compression, and a message for a body that is not of git', async () => {
    expect((await request('PUT', `${base()}/git-upload-pack`)).status).toBe(405)
    expect((await request('POST', `${base()}/info/refs`)).status).toBe(405)
    expect((await post('{}', { 'content-type': 'application/json' })).status).toBe(415)
    expect((await post('0000', { 'content-encoding': 'br' })).status).toBe(415)
    expect((await post('0000', { 'content-encoding': 'gzip' })).status).toBe(400)
    expect((await post('zzzz')).text).toContain('ERR this is not a request of git')
  })

  test('a compressed request is read, and a decompression bomb is refused', async () => {
    const list = Buffer.concat([
      pktLine('command=ls-refs\n'),
      Buffer.from('0001'),
      pktLine('ref-prefix refs/heads/\n'),
      Buffer.from('0000'),
    ])
    const good = await post(gzipSync(list), { 'content-encoding': 'gzip' })
    expect([good.status, good.text]).toEqual([200, expect.stringContaining('refs/heads/main')])
    expect((await post(gzipSync(Buffer.alloc(64 * 1024 ** 2)), { 'content-encoding': 'gzip' })).status).toBe(
      413,
    )
  })

  test('the protocol header must be a number', async () => {
    const requested = { 'git-protocol': 'version=2:x=$(id)\u00e9' }
    const { status, text } = await request('GET', `${base()}/info/refs?service=git-upload-pack`, requested)
    expect([status, text.slice(0, 14)]).toEqual([200, '000eversion 2\n'])
  })
})
