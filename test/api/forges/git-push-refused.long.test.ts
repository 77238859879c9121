import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { FLUSH, pktLine } from '../../../src/git/process/pkt-line.ts'
import { deltaPack } from '../../git/delta-pack.ts'
import { addHook } from '../../git/repositories.ts'
import { processesIn } from './git-processes.ts'
import { PUSH_MAX_BYTES, startPushes } from './start-git.ts'

const { app, client, mirror, clone, at } = await startPushes()
const ZERO = '0'.repeat(40)

describe('refused content', () => {
  const nothingLeft = () =>
    [mirror, join(mirror, '..')].flatMap(folder =>
      readdirSync(folder).filter(name => name.startsWith('incoming-')),
    )

  test('refs that are neither branches nor tags', async () => {
    for (const ref of ['refs/agentrun/1/1', 'refs/pull/1/head', 'refs/notes/commits']) {
      const { code, err } = await clone.push('origin', `HEAD:${ref}`)
      expect([code, err]).toEqual([1, expect.stringMatching(/remote rejected.*only branches and tags/)])
    }
    expect(app.git('for-each-ref', 'refs/agentrun', 'refs/pull', 'refs/notes')).toBe('')
  })

  test('more bytes than the operator allows: git reports it, and nothing is stored', async () => {
    await clone.commit({ 'large.bin': randomBytes(PUSH_MAX_BYTES + PUSH_MAX_BYTES / 2) })
    const { code, err } = await clone.push('origin', 'HEAD:refs/heads/large')
    expect([code, err]).toEqual([1, expect.stringContaining('larger than allowed')])
    expect([at('refs/heads/large'), nothingLeft()]).toEqual(['', []])
  })

  test('objects that a checkout would be misled by', async () => {
    const blob = await clone.git('hash-object', '-w', 'a.txt')
    const tree = execFileSync('git', ['mktree'], {
      cwd: join(client.folder, clone.name),
      input: `100644 blob ${blob}\t.git\n`,
      encoding: 'utf8',
    }).trim()
    const bad = await clone.git('commit-tree', '-m', 'x', tree)
    const { code, err } = await clone.push('origin', `${bad}:refs/heads/bad`)
    expect([code, err]).toEqual([1, expect.stringMatching(/hasDotgit|contains '\.git'/)])
    expect([at('refs/heads/bad'), nothingLeft()]).toEqual(['', []])
    expect(() =>
      execFileSync('git', ['-c', 'safe.directory=*', 'cat-file', '-e', bad], {
        cwd: mirror,
        stdio: 'ignore',
      }),
    ).toThrow()
  })

  test('a few objects that expand to millions of files', async () => {
    const tree = (lines: string[]) =>
      execFileSync('git', ['mktree'], {
        cwd: join(client.folder, clone.name),
        input: lines.join(''),
        encoding: 'utf8',
      }).trim()
    const ten = (mode: string, sha: string) =>
      tree(Array.from({ length: 10 }, (_, n) => `${mode} ${sha}\t${n}\n`))
    let sha = ten('100644 blob', await clone.git('hash-object', '-w', 'a.txt'))
    for (let level = 0; level < 5; level++) sha = ten('040000 tree', sha)
    const bomb = await clone.git('commit-tree', '-m', 'x', sha)
    const { code, err } = await clone.push('origin', `${bomb}:refs/heads/bomb`)
    expect([code, err]).toEqual([1, expect.stringContaining('expands to more than 500000 files')])
    expect([at('refs/heads/bomb'), nothingLeft()]).toEqual(['', []])
  })

  /** An object that git never writes. */
  async function raw(body: Uint8Array<ArrayBuffer>) {
    const response = await fetch(`${app.base_url}/git/${app.org_id}/${app.repo_id}.git/git-receive-pack`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${app.token}`,
        'content-type': 'application/x-git-receive-pack-request',
      },
      body,
    })
    return { status: response.status, text: await response.text() }
  }
  const command = (from: string, to: string, ref: string) =>
    Buffer.concat([pktLine(`${from} ${to} ${ref}\0 report-status`), FLUSH])

  test('a missing commit, an invalid pack, an outdated ref, and an invalid push', async () => {
    const main = app.put('main', { 'raw.txt': 'x\n' })
    await client.ok('.', 'ls-remote', client.address())
    const nowhere = await raw(Buffer.concat([command(ZERO, 'a'.repeat(40), 'refs/heads/x'), emptyPack()]))
    expect(nowhere.text).toContain('ng refs/heads/x unpacker error')
    expect(
      (await raw(Buffer.concat([command(ZERO, main, 'refs/heads/x'), Buffer.from('PACKjunk')]))).text,
    ).toContain('ng refs/heads/x')
    expect((await raw(command(ZERO, main, 'refs/heads/x'))).text).toContain('ng refs/heads/x')
    expect(
      (
        await raw(
          Buffer.concat([
            command('b'.repeat(40), app.git('rev-parse', 'main~1'), 'refs/heads/main'),
            emptyPack(),
          ]),
        )
      ).text,
    ).toContain('ng refs/heads/main')
    expect((await raw(command(main, ZERO, 'refs/heads/never'))).text).toContain('ng refs/heads/never')
    expect((await raw(Buffer.from('hello'))).status).toBe(409)
    expect((await raw(pktLine('push-cert\0 x') as Buffer<ArrayBuffer>)).status).toBe(409)
    expect((await raw(Buffer.from('0000'))).status).toBe(200)
    expect([at('refs/heads/main'), at('refs/heads/x'), nothingLeft()]).toEqual([main, '', []])
  })

  test('a small pack of deltas that expand to gigabytes: git gets processor time in proportion to the bytes', async () => {
    const pack = deltaPack({ deltas: 120, bytes: 60_000_000 })
    expect(pack.length).toBeLessThan(80_000)
    const { text } = await raw(Buffer.concat([command(ZERO, 'a'.repeat(40), 'refs/heads/deltas'), pack]))
    expect(text).toContain('git took more than 7 s of processor time')
    expect([at('refs/heads/deltas'), nothingLeft(), processesIn(app.data_dir)]).toEqual(['', [], []])
    // Seven seconds of a processor take long where many share it.
  }, 120_000)

  const emptyPack = () =>
    execFileSync('git', ['pack-objects', '--stdout'], { cwd: join(client.folder, clone.name), input: '' })

  test('names that git could parse as options', async () => {
    const main = at('refs/heads/main')
    for (const ref of [
      'refs/heads/--force',
      'refs/heads/-x',
      'refs/heads/a:b',
      'refs/heads/../../x',
      'refs/heads/a b',
      'refs/heads/a\nb',
      'refs/heads/x.lock',
    ]) {
      const { text } = await raw(Buffer.concat([command(ZERO, main, ref), emptyPack()]))
      expect(text).toMatch(/ng refs\/heads\/.*this is not a name|ng .*only branches/s)
    }
    expect(app.git('for-each-ref', 'refs/heads/-*')).toBe('')
  })

  test('a client that disconnects in the middle leaves no process, no file and no branch', async () => {
    const requested = request(`${app.base_url}/git/${app.org_id}/${app.repo_id}.git/git-receive-pack`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${app.token}`,
        'content-type': 'application/x-git-receive-pack-request',
      },
    })
    requested.on('error', () => {})
    const header = Buffer.alloc(12)
    header.write('PACK')
    header.writeUInt32BE(2, 4)
    header.writeUInt32BE(3, 8)
    requested.write(Buffer.concat([command(ZERO, at('refs/heads/main'), 'refs/heads/half'), header]))
    const uploads = () => readdirSync(join(app.data_dir, 'git', 'uploads'))
    await expect.poll(uploads, { timeout: 20_000 }).toHaveLength(1)
    requested.destroy()
    await expect
      .poll(() => [uploads(), processesIn(app.data_dir), nothingLeft()], { timeout: 20_000 })
      .toEqual([[], [], []])
    expect(at('refs/heads/half')).toBe('')
  })

  test('no hook of the mirror runs', async () => {
    mkdirSync(join(mirror, 'hooks'), { recursive: true })
    for (const name of ['pre-receive', 'update', 'post-receive', 'reference-transaction', 'pre-push'])
      await addHook(mirror, name, `touch ${join(client.folder, 'ran')}`)
    await clone.commit({ 'hooked.txt': 'x\n' })
    expect((await clone.push('--force', 'origin', 'HEAD:refs/heads/hooked')).code).toBe(0)
    expect(readdirSync(client.folder)).not.toContain('ran')
  })
})
