import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FLUSH, pktLine } from '../../../src/git/process/pkt-line.ts'
import { readPackets } from '../../git/packets.ts'
import { startGit } from './start-git.ts'

const DELIMITER = Buffer.from('0001')
const { app, client, mirror } = await startGit()
const git = (cwd: string, args: string[], input: Uint8Array | string = '') =>
  execFileSync('git', ['-c', 'safe.directory=*', ...args], { cwd, input, stdio: ['pipe', 'pipe', 'pipe'] })
    .toString()
    .trim()

/** A repository that has everything that is public, and nothing else. */
const reader = mkdtempSync(join(tmpdir(), 'agentrun-reader-'))
afterAll(() => rmSync(reader, { recursive: true, force: true }))

/** A branch of two commits that was deleted, and what only it has; `main` and its file. */
const objects = { gone: '', parent: '', blob: '', tree: '', tag: '', main: '' }
const MISSING = '0123456789abcdef0123456789abcdef01234567'

beforeAll(async () => {
  objects.parent = app.put('gone', { 'private.txt': 'private content\n'.repeat(200) })
  objects.gone = app.put('gone', { 'second.txt': 'x\n' })
  app.git('-c', 'user.name=A', '-c', 'user.email=a@x', 'tag', '-a', '-m', 'one', 'gone-tag', objects.gone)
  objects.blob = app.git('rev-parse', `${objects.parent}:private.txt`)
  objects.tree = app.git('rev-parse', `${objects.parent}^{tree}`)
  objects.tag = app.git('rev-parse', 'gone-tag')
  objects.main = app.put('main', { 'public.txt': 'x\n' })
  expect(await client.ok('.', 'ls-remote', client.address())).toContain('refs/heads/gone')
  app.git('update-ref', '-d', 'refs/heads/gone')
  app.git('update-ref', '-d', 'refs/tags/gone-tag')
  expect(await client.ok('.', 'ls-remote', client.address())).not.toContain('gone')
  git(mirror, ['update-ref', 'refs/agentrun/77/1', objects.gone])
  git(reader, ['clone', '--quiet', '--bare', `file://${app.remote}`, '.'])
  expect(has(objects.main)).toBe(true)
  for (const sha of privateOnes()) {
    expect(git(mirror, ['cat-file', '-t', sha])).not.toBe('')
    expect(has(sha)).toBe(false)
  }
}, 60_000)

const privateOnes = () => [objects.gone, objects.parent, objects.blob, objects.tree, objects.tag]
const has = (sha: string) => !git(reader, ['cat-file', '--batch-check'], sha).endsWith('missing')

async function post(version: 0 | 1 | 2, body: Buffer<ArrayBuffer>) {
  const response = await fetch(`${app.base_url}/git/${app.org_id}/${app.repo_id}.git/git-upload-pack`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${app.token}`,
      'content-type': 'application/x-git-upload-pack-request',
      'git-protocol': `version=${version}`,
    },
    body,
  })
  expect(response.status).toBe(200)
  return Buffer.from(await response.arrayBuffer())
}
const fetch2 = (...lines: string[]) =>
  post(2, Buffer.concat([pktLine('command=fetch'), DELIMITER, ...lines.map(line => pktLine(line)), FLUSH]))
const fetch0 = (wants: string[], haves: string[]) => {
  const [first, ...more] = wants
  const lines = [`${first} side-band-64k thin-pack ofs-delta no-done multi_ack_detailed`, ...more].map(line =>
    pktLine(line),
  )
  return post(0, Buffer.concat([...lines, FLUSH, ...haves.map(line => pktLine(line))]))
}

/** Stores what a response has of a pack, as git would; the lines of its other parts. */
function takePack(response: Buffer): string[] {
  const contents = (readPackets(response) ?? []).flatMap(packet =>
    packet.kind === 'line' ? [packet.content] : [],
  )
  const pack = Buffer.concat(contents.filter(content => content[0] === 1).map(content => content.subarray(1)))
  if (pack.length > 0) git(reader, ['index-pack', '--stdin', '--fix-thin'], pack)
  return contents.filter(content => (content[0] ?? 0) > 2).map(content => content.toString('latin1').trim())
}

test('no spelling of a name returns an object that no branch and no tag reaches', async () => {
  const spell = (sha: string) => [
    sha,
    sha.toUpperCase(),
    `${sha} `,
    `${sha}\n`,
    `${sha}\n\n`,
    `${sha}\0`,
    `${sha} done`,
    sha.slice(0, 12),
    ` ${sha}`,
  ]
  const names = [...privateOnes().flatMap(spell), 'refs/agentrun/77/1', 'agentrun/77/1', 'refs/heads/gone']
  for (const name of names)
    for (const response of [
      await fetch2(`want ${name}`, 'done'),
      await fetch2(`want ${objects.main}`, `want ${name}`, 'done'),
      await fetch2(`want-ref ${name}`, 'done'),
      await fetch0([`want ${name}`], ['done']),
      await fetch0([`want ${objects.main}`, `want ${name}`], ['done']),
    ])
      expect([name, takePack(response)]).toEqual([name, [expect.stringMatching(/^ERR /)]])
  expect(privateOnes().filter(has)).toEqual([])
}, 120_000)

test('an end of history in a private commit does not make its parents public', async () => {
  const ends = [objects.gone, objects.gone.toUpperCase()]
  const depths = ['deepen 2147483647', 'deepen 1', 'deepen-since 1', 'deepen-not main']
  for (const end of ends)
    for (const depth of depths) {
      const lines = [`want ${objects.main}`, `shallow ${end}`, depth]
      const lines_of_response = [
        ...takePack(await fetch2(...lines, 'done')),
        ...takePack(await fetch0(lines, ['done'])),
      ]
      expect(
        lines_of_response.filter(line => line.includes('unshallow') || line.includes(objects.gone)),
      ).toEqual([])
    }
  takePack(
    await fetch2(`want ${objects.main}`, `shallow ${objects.gone}`, 'deepen 1', 'deepen-relative', 'done'),
  )
  expect(privateOnes().filter(has)).toEqual([])
})

test('a private object as something that the client has gets the response of one that does not exist', async () => {
  const base = app.git('rev-parse', 'main^')
  expect(takePack(await fetch2(`want ${objects.main}`, `have ${base}`))).toContain(`ACK ${base}`)
  const expected = takePack(await fetch2(`want ${objects.main}`, `have ${MISSING}`))
  expect(expected).toContain('NAK')
  for (const sha of privateOnes()) {
    expect(takePack(await fetch2(`want ${objects.main}`, `have ${sha}`))).toEqual(expected)
    expect(takePack(await fetch2('wait-for-done', `have ${sha}`))).toEqual(['acknowledgments', 'NAK'])
    expect(takePack(await fetch0([`want ${objects.main}`], [`have ${sha}`, 'done']))).toEqual(['NAK'])
    expect(takePack(await fetch2(`want ${sha}`))).toEqual(
      takePack(await fetch2(`want ${MISSING}`)).map(line => line.replace(MISSING, sha)),
    )
  }
})

test('a difference is never one to a private object', async () => {
  // A pack may hold a file as the difference to one that the client claims to have: that would show which
  // parts are equal.
  const similar = app.put('main', { 'guess.txt': `${'private content\n'.repeat(200)}guess\n` })
  await client.ok('.', 'ls-remote', client.address())
  takePack(
    await fetch2(
      'thin-pack',
      'ofs-delta',
      `want ${similar}`,
      `have ${objects.parent}`,
      `have ${objects.gone}`,
      'done',
    ),
  )
  expect(has(app.git('rev-parse', 'main:guess.txt'))).toBe(true)
  expect(privateOnes().filter(has)).toEqual([])
})

test('a private ref cannot be excluded, and a public one by every name', async () => {
  const excluded = async (name: string) =>
    takePack(await fetch2(`want ${app.git('rev-parse', 'main')}`, `deepen-not ${name}`, 'done')).join()
  app.git('update-ref', 'refs/heads/old', app.git('rev-parse', 'main^'))
  await client.ok('.', 'ls-remote', client.address())
  for (const name of [
    'refs/agentrun/77/1',
    'agentrun/77/1',
    'gone',
    objects.gone,
    'main^',
    '--all',
    'nothing',
  ])
    expect([name, await excluded(name)]).toEqual([name, expect.stringContaining('ERR a branch or tag')])
  for (const name of ['old', 'heads/old', 'refs/heads/old'])
    expect(await excluded(name)).toContain('shallow-info,shallow ')
})

test('no other command of protocol 2 reports anything about an object', async () => {
  for (const command of ['object-info', 'bundle-uri']) {
    const body = Buffer.concat([
      pktLine(`command=${command}`),
      DELIMITER,
      pktLine('size'),
      pktLine(`oid ${objects.blob}`),
      FLUSH,
    ])
    expect(takePack(await post(2, body))).toEqual(['ERR the commands here are ls-refs and fetch'])
  }
  const offer = await fetch(
    `${app.base_url}/git/${app.org_id}/${app.repo_id}.git/info/refs?service=git-upload-pack`,
    {
      headers: { authorization: `Bearer ${app.token}`, 'git-protocol': 'version=2' },
    },
  )
  expect(await offer.text()).not.toMatch(/object-info|bundle-uri|ref-in-want/)
})

test('refs outside branches and tags are not listed by any prefix', async () => {
  for (const prefix of ['refs/agentrun/', 'refs/', '', 'refs/heads/../agentrun/', 'refs/agentrun/77/1']) {
    const body = Buffer.concat([
      pktLine('command=ls-refs'),
      DELIMITER,
      pktLine('peel'),
      pktLine(`ref-prefix ${prefix}`),
      FLUSH,
    ])
    expect((await post(2, body)).toString()).not.toMatch(new RegExp(`agentrun|${objects.gone}`))
  }
})
