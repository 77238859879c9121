import { expect, test } from 'vitest'
import { append } from '../../../src/store/runs/append.ts'
import { putRun } from '../../api/runs/put-run.ts'
import { createRun } from '../../runs/await-run.ts'
import { rows, startApp } from '../../start-app.ts'
import { inBrowser } from '../visit.ts'

const { app, visit } = await inBrowser(startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' }))

test('a run that another worker continued shows it beside its answer, with a link to the report', async () => {
  const { id } = await createRun(app, { prompt: 'Survive' })
  await putRun(app, id, 'running')
  const interrupted = [{ call_id: 'a', tool_name: 'shell' }]
  const body = {
    cause: 'lease_lost',
    since: '2026-01-01T00:00:00.000Z',
    model_call_reissued: false,
    interrupted,
  }
  const [run] = await rows<{ epoch: number }>(app, 'select epoch from runs where id = $1', [id])
  const records = [{ kind: 'recovered' as const, key: null, body: JSON.stringify(body) }]
  expect(await append(app.db, app.org_id, id, run?.epoch ?? 0, { records })).toBeDefined()
  await putRun(app, id, 'completed')
  await using someone = await visit({ viewport: { width: 1440, height: 500 } })
  const { page } = someone
  await someone.open(`/agent/trace/${id}`)
  const answer = page.getByRole('tabpanel', { name: 'Answer' })
  await answer.getByText('Continued after a lost worker; 1 call may or may not have completed.').waitFor()
  await answer.getByRole('link', { name: 'Recovery report' }).click()
  const report = page.getByRole('tabpanel', { name: 'Config' }).getByRole('region', { name: 'Recovery' })
  await report.getByText('The worker or its sandbox was lost').waitFor()
  await page.waitForFunction('document.getElementById("recovery").getBoundingClientRect().top < innerHeight')
})
