// biome-ignore-all lint/suspicious/noExplicitAny: entries are read without types
import { expect, test } from 'vitest'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import { calls, responses, shell, startCodingApp } from '../coding-app.ts'

test('files that an agent writes into a prepared home folder count against the limit of its workspace', async () => {
  await using app = await startCodingApp(
    responses(calls(shell('head -c 60000000 /dev/zero >~/big; timeout 8 bash -c "while :; do :; done"', 60))),
    {
      AGENTRUN_SANDBOX_DISK_BYTES: '33554432',
    },
  )
  await app.call('PUT', `/v1/organizations/${app.org_id}/repos/${app.repo_id}/setup-commands`, {
    commands: ['echo made >~/made'],
  })
  const { id } = await createRun(app, { prompt: 'fill the home folder' })
  const run = await awaitEnd(app, id)
  const filled = (await allLogs(app, id)).find((entry: any) => entry.tool_name === 'shell')
  expect(JSON.stringify([run.status_reason, filled?.tool_output])).toContain('the limit is 32 MiB')
}, 120_000)

test('no part of a secret is shown where the output of a setup command is truncated', async () => {
  await using app = await startCodingApp(responses())
  const at = (path: string) => `/v1/organizations/${app.org_id}${path}`
  await app.call('PUT', at('/secrets/DEPLOY_KEY'), { value: 'deploy-key-0123456789-0123456789' })
  const zeros = (n: number) => `head -c ${n} /dev/zero | tr '\\0' x`
  const cut = `${zeros(32_758)}; printf %s "$DEPLOY_KEY"; ${zeros(70_000)}; printf %s "$DEPLOY_KEY"; ${zeros(32_750)}`
  const commands = [cut, `${zeros(990)}; printf %s "$DEPLOY_KEY"; exit 3`]
  await app.call('PUT', at(`/repos/${app.repo_id}/setup-commands`), { commands })
  const { id } = await createRun(app, { prompt: 'x' })
  const run = await awaitEnd(app, id)
  expect(run).toMatchObject({ status_reason: 'setup_failed' })
  const text = JSON.stringify([run, await allLogs(app, id)]).replaceAll('$DEPLOY_KEY', '')
  expect(text).toContain('[redacted:DEPLOY_KEY]')
  expect(text).not.toMatch(/deploy-|6789xx|xde/)
}, 120_000)
