import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../../src/client/sdk/client.ts'
import { startCutProxy } from './cut-proxy.ts'
import { collect, range, seqs, startSdk } from './start-sdk.ts'

const { app, other, clientOf, grow, newRun, end } = await startSdk()

describe('follow', () => {
  test('gives entries as they come and ends with the run that has ended', async () => {
    const created = clientOf().runs.create({ prompt: 'x' })
    const { id } = await created
    const events: RunEvent[] = []
    for await (const event of created.follow()) {
      events.push(event)
      if (events.length === 2) await grow(id, 30)
      if (event.type === 'log' && event.seq === 31) await end(id)
    }
    expect(seqs(events)).toEqual(range(1, 31))
    expect(events.at(-1)).toMatchObject({ type: 'run', run: { id, terminal: true } })
  })

  test('begins and ends at the given positions', async () => {
    const id = await newRun(20)
    const events = await collect(
      clientOf().runs.follow(id, { after_seq: 15, until: run => run.total_logs === 20 }),
    )
    expect(seqs(events)).toEqual(range(16, 20))
  })

  test('a connection that is cut again and again, in the middle of an event too, leaves no gap and gives nothing twice', async () => {
    const id = await newRun(1)
    let streams = 0
    // Each connection passes on a little more than the last one, so that cuts fall everywhere.
    await using proxy = await startCutProxy(app.base_url, () => 600 + 701 * streams++)
    const client = clientOf({ base_url: proxy.base_url, organization_id: app.org_id })
    const events: RunEvent[] = []
    const writing = (async () => {
      for (let i = 0; i < 8; i++) await grow(id, 15)
      await end(id)
    })()
    for await (const event of client.runs.follow(id)) events.push(event)
    await writing
    expect(seqs(events)).toEqual(range(1, 121))
    expect(proxy.connections).toBeGreaterThan(3)
  })

  test('a run that is deleted ends its stream with 404, and is not requested again', async () => {
    const id = await newRun(1)
    const requested: string[] = []
    const client = clientOf({
      organization_id: app.org_id,
      fetch: (input, init) => {
        requested.push(`${init?.method ?? 'GET'} ${new URL(input.toString()).pathname.split('/').at(-1)}`)
        return fetch(input, init)
      },
    })
    await end(id)
    const following = async () => {
      for await (const { type } of client.runs.follow(id, { until: () => false }))
        if (type === 'run') await app.call('DELETE', `/v1/organizations/${app.org_id}/agent/run/${id}`)
    }
    await expect(following()).rejects.toMatchObject({ status: 404, code: 'not_found' })
    expect(requested).toEqual(['GET events'])
  })

  test('an interruption while nothing happens is recovered too', async () => {
    const id = await newRun(3)
    await using proxy = await startCutProxy(app.base_url, () => null)
    const client = clientOf({ base_url: proxy.base_url, organization_id: app.org_id })
    const events: RunEvent[] = []
    let cuts = 0
    for await (const event of client.runs.follow(id)) {
      events.push(event)
      if (event.type === 'run' && !event.run.terminal && cuts++ < 2) {
        proxy.cut()
        await grow(id, 2)
      }
      if (event.type === 'log' && event.seq === 7) await end(id)
    }
    expect(seqs(events)).toEqual(range(1, 7))
    expect(cuts).toBeGreaterThanOrEqual(2)
  })

  test('an abort ends it with the reason, leaving it closes the connection', async () => {
    const id = await newRun(2)
    const reason = new Error('enough')
    const abort = new AbortController()
    const reading = (async () => {
      for await (const event of clientOf().runs.follow(id, { signal: abort.signal }))
        if (event.type === 'run') abort.abort(reason)
    })()
    await expect(reading).rejects.toBe(reason)

    const aborted = Promise.withResolvers<void>()
    const watched: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      const body =
        response.body?.pipeThrough(new TransformStream({ cancel: () => aborted.resolve() })) ?? null
      return new Response(body, response)
    }
    for await (const _event of clientOf({ fetch: watched }).runs.follow(id)) break
    await aborted.promise
  })

  test('a run of another user is refused, not retried', async () => {
    await expect(collect(clientOf().runs.follow(other.run_id))).rejects.toMatchObject({ status: 404 })
  })

  test('the organization reports every run', async () => {
    const client = clientOf()
    const events = client.events({ after_seq: 0 })
    const id = await newRun(1)
    for await (const event of events) {
      expect(event.seq).toBeGreaterThan(0)
      if (event.agent_run_id !== id) continue
      expect(event.run).toMatchObject({ id, prompt: 'x' })
      break
    }
  })
})
