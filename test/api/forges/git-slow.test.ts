import { readdirSync } from 'node:fs'
import { type ClientRequest, request } from 'node:http'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { pktLine } from '../../../src/git/process/pkt-line.ts'
import { addPerson } from '../members/people.ts'
import { processesIn } from './git-processes.ts'
import { startPushes } from './start-git.ts'

const { app, client, clone, at } = await startPushes()
const open: ClientRequest[] = []
afterAll(() => {
  for (const one of open) one.destroy()
})

/** Begins a request and never ends it. */
function trickle(token: string, service: 'git-receive-pack' | 'git-upload-pack', start: Uint8Array) {
  const requested = request(`${app.base_url}/git/${app.org_id}/${app.repo_id}.git/${service}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': `application/x-${service}-request` },
  })
  requested.on('error', () => {})
  requested.write(start)
  open.push(requested)
}

test('clients that send slowly delay nobody, neither in their organization nor elsewhere', async () => {
  const main = at('refs/heads/main')
  const command = pktLine(`${'0'.repeat(40)} ${main} refs/heads/slow\0 report-status`)
  const people = [await addPerson(app, 'MEMBER'), await addPerson(app, 'MEMBER')]
  for (const { token } of people)
    for (let n = 0; n < 4; n++) {
      trickle(token, 'git-receive-pack', Buffer.concat([command, Buffer.from('0000PACK')]))
      trickle(token, 'git-upload-pack', pktLine(`want ${main}`))
    }
  const uploads = () => readdirSync(join(app.data_dir, 'git', 'uploads'))
  await expect.poll(uploads, { timeout: 20_000 }).toHaveLength(16)
  expect(processesIn(app.data_dir).filter(line => /index-pack|upload-pack/.test(line))).toEqual([])
  const sha = await clone.commit({ 'quick.txt': 'x\n' })
  expect(await clone.push('origin', 'HEAD:refs/heads/quick')).toMatchObject({ code: 0 })
  expect(at('refs/heads/quick')).toBe(sha)
  expect((await client.run('clone', '--quiet', client.address(), 'quick')).code).toBe(0)
  // A user who has as many on their way as one may have is refused at once.
  const [first] = people
  const refused = await client.run('clone', client.address(app.repo_id, first?.token), 'refused')
  expect([refused.code, refused.err]).toEqual([128, expect.stringMatching(/503|too many requests of git/)])
  expect(uploads()).toHaveLength(16)
})
