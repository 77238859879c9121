import { expect, test } from 'vitest'
import type { Reservation } from '../../../../src/core/runs/budget/pot.ts'
import { finish, PRICED } from '../../coding-app.ts'
import { startCluster } from '../cluster.ts'

test('a model call that is lost with its worker is charged an estimate of what was sent and received, not its reservation', async () => {
  const requested = Promise.withResolvers<void>()
  await using cluster = await startCluster((_request, n) => {
    if (n > 0) return finish('Done.')
    requested.resolve()
    return { stall: 'before_body' }
  })
  const worker = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'Answer.', model: PRICED.model })
  await requested.promise
  worker.child.kill('SIGKILL')
  await worker.ended
  await cluster.start('work', worker.data_dir)
  const run = await cluster.until(id, ({ terminal }) => terminal)
  expect(run).toMatchObject({ status: 'completed', result: 'Done.' })
  const bodies = async <T>(kind: string): Promise<T[]> =>
    (
      await cluster.rows<{ body: string }>(
        'select body from journal where run_id = $1 and kind = $2 order by n',
        [id, kind],
      )
    ).map(({ body }) => JSON.parse(body))
  const [started] = await bodies<{ reservation: Reservation }>('model_started')
  const [lost] = await bodies<{ code: string; charge: Reservation; estimated: boolean }>('model_failed')
  const { reservation } = started ?? { reservation: null }
  expect(lost).toMatchObject({
    code: 'lost',
    estimated: true,
    charge: { input_tokens: reservation?.input_tokens },
  })
  const { output_tokens = 0, cost_usd = null } = lost?.charge ?? {}
  expect(output_tokens).toBeGreaterThan(1_000)
  expect(output_tokens).toBeLessThan(Number(reservation?.output_tokens) / 2)
  // Numbers of the database are exact, those of this test are not.
  expect(Number(cost_usd) - Number(reservation?.input_cost_usd)).toBeCloseTo(output_tokens * PRICED.output, 9)
  const [usage] = await cluster.rows<{ output_tokens: number; reserved_usd: string }>(
    'select output_tokens, reserved_usd from runs where id = $1',
    [id],
  )
  expect(usage).toEqual({
    output_tokens: output_tokens + 20,
    reserved_usd: expect.stringMatching(/^0(\.0+)?$/),
  })
}, 120_000)
