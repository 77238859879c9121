import { afterAll, expect, test } from 'vitest'
import { startApp } from '../../start-app.ts'
import { gitClient } from './git-client.ts'

const app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0', AGENTRUN_SAMPLE: '1' })
const client = gitClient(app)
afterAll(async () => {
  client[Symbol.dispose]()
  await app[Symbol.asyncDispose]()
})

test('the sample accepts a forced push, and refuses one that is not forced', async () => {
  const { body } = await app.call('GET', `/v1/organizations/${app.org_id}/repos`)
  const sample = body.items.find(({ full_name }: { full_name: string }) => full_name === 'sample/invoice')
  await client.ok('.', 'clone', '--quiet', client.address(sample.id), 'sample')
  await client.ok('sample', 'commit', '--quiet', '--amend', '-m', 'another history')
  expect((await client.at('sample', 'push', 'origin', 'main')).err).toMatch(/\[rejected\]/)
  expect(await client.at('sample', 'push', '--force', 'origin', 'main')).toMatchObject({ code: 0 })
  expect(await client.ok('.', 'ls-remote', client.address(sample.id), 'main')).toContain(
    await client.ok('sample', 'rev-parse', 'HEAD'),
  )
})
