import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RunStatus } from '../../../src/contract/runs/runs.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { awaitRun, createRun } from '../await-run.ts'

/**
 * Several clients send random requests for the same few runs, while workers process them: the invariants of
 * every interleaving.
 */
const seed = Number(process.env.TEST_SEED ?? 1)
const CLIENTS = 6
const REQUESTS = 50

/** Every move of specification.md#run-status, repeated independently of the code. */
const edges: Record<RunStatus, RunStatus[]> = {
  queued: ['starting', 'paused', 'cancelling', 'failed'],
  starting: ['running', 'queued', 'paused', 'cancelling', 'failed'],
  running: ['queued', 'waiting', 'paused', 'cancelling', 'failed', 'completed'],
  waiting: ['running', 'paused', 'cancelling', 'failed'],
  paused: ['queued', 'cancelling'],
  cancelling: ['cancelled'],
  completed: ['queued'],
  failed: ['queued'],
  cancelled: ['queued'],
}
const ended: RunStatus[] = ['completed', 'failed', 'cancelled']

/** Records every transition of a run, regardless of its author. */
const witness = `create table moves (n bigint generated always as identity, run_id bigint, status_before text, status_after text, turn_before int, turn_after int);
  create function witness() returns trigger language plpgsql as $$ begin
    insert into moves (run_id, status_before, status_after, turn_before, turn_after) values (new.id, old.status, new.status, old.turn, new.turn);
    return new;
  end $$;
  create trigger witness after update on runs for each row when (old.status <> new.status or old.turn <> new.turn) execute function witness();`

const played = (steps: string) => `Play this.\n\n\`\`\`playbook\n${steps}\n\`\`\`\n`
const prompts = [
  played('- answer: done'),
  played('- ask: Which one?\n- answer: done'),
  played('- thought: hm\n- run: echo one\n- run: echo two\n- answer: done'),
  played('- run: exit 3\n- answer: never'),
  'And mind the gap.',
]

type Command = { path: string; body: Record<string, unknown> }
const message = fc.record({
  prompt: fc.constantFrom(...prompts),
  mode: fc.constantFrom('steer', 'enqueue', 'interrupt', undefined),
})
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 10, arbitrary: message.map(body => ({ path: 'resume', body })) },
  ...['stop', 'ban', 'unban', 'unban', 'archive', 'unarchive', 'remove-from-pr'].map(path => ({
    weight: 1,
    arbitrary: fc.constant({ path, body: {} }),
  })),
)

test.each([seed, seed + 1])(
  'six clients at once leave every run, its trace, its turns and its counters consistent (%i)',
  async round => {
    await using app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '3' })
    await app.db.query({ text: witness })
    const runs: { id: number }[] = []
    for (const prompt of prompts.slice(0, 4))
      runs.push(await createRun(app, { prompt, repo_id: null, repoless: true }))

    const prompts_accepted = new Map(runs.map(({ id }) => [id, 1]))
    const responses: { path: string; status: number; body: unknown }[] = []
    const client = async (n: number) => {
      const lists = fc.sample(fc.tuple(command, fc.constantFrom(...runs)), {
        seed: round * 100 + n,
        numRuns: REQUESTS,
      })
      for (const [{ path, body }, { id: agent_run_id }] of lists) {
        const response = await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/${path}`, {
          ...body,
          agent_run_id,
        })
        responses.push({ path, status: response.status, body: response.body })
        if (path === 'resume' && response.status === 200)
          prompts_accepted.set(agent_run_id, (prompts_accepted.get(agent_run_id) ?? 0) + 1)
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, (_item, n) => client(n)))
    // Only a late request, or one to a banned run, is refused, with that reason.
    const refused = responses.filter(({ status }) => status !== 200)
    expect(refused.filter(({ path, status }) => !(path === 'resume' && status === 409))).toEqual([])

    for (const { id } of runs) await settled(app, id)
    await expectConsistent(app, prompts_accepted)
  },
  90_000,
)

/** Waits until no worker has a run and none is left to claim. */
async function settled(app: App, id: number): Promise<void> {
  for (;;) {
    await awaitRun(app, id, run => run.terminal || run.status === 'waiting' || run.status === 'paused')
    const [row] = await rows(
      app,
      'select 1 from runs where id = $1 and runnable_at is null and lease_until is null',
      [id],
    )
    if (row) return
  }
}

async function expectConsistent(app: App, prompts_accepted: Map<number, number>): Promise<void> {
  const none = async (what: string, text: string) =>
    expect({ what, found: await rows(app, text) }).toEqual({ what, found: [] })

  await none(
    'a trace with a gap or a double, or counted wrongly',
    `select r.id
      from runs r
      left join log_entries e on e.run_id = r.id
      group by r.id
      having count(e.seq) <> r.total_logs or max(e.seq) <> r.total_logs`,
  )
  await none(
    'a journal with a gap or a double, or counted wrongly',
    `select r.id
      from runs r
      left join journal j on j.run_id = r.id
      group by r.id
      having count(j.n) <> r.journal_count or coalesce(max(j.n), 0) <> r.journal_count`,
  )
  await none(
    'an event without a position',
    `select o.id
      from organizations o
      left join events e on e.organization_id = o.id
      group by o.id
      having count(e.seq) <> o.event_seq or coalesce(max(e.seq), 0) <> o.event_seq`,
  )
  await none(
    'a message without its entry, or an entry without its message',
    `select coalesce(m.run_id, e.run_id)
      from messages m full
      join (select * from log_entries where message_type = 'USER_MESSAGE') e on e.run_id = m.run_id
        and e.seq = m.seq
      where m.run_id is null or e.run_id is null`,
  )
  await none(
    'messages that wait, counted wrongly',
    `select r.id
      from runs r
      where r.pending_messages <> (
        select count(*)
        from messages m
        where m.run_id = r.id and m.delivered_at is null and m.turn <= r.turn
      )`,
  )
  await none(
    'a completed run with an undelivered message',
    `select id from runs where status = 'completed' and pending_messages > 0`,
  )
  await none(
    'an end that is none',
    `select id
      from runs
      where (status in ('completed', 'failed', 'cancelled')) is distinct from (finished_at is not null)
        or (
          status in ('completed', 'failed', 'cancelled', 'paused')
          and (deadline_at is not null or lease_until is not null)
        )
        or (status <> 'completed' and result <> '')`,
  )
  await none(
    'turns that go back within a trace',
    `select run_id
      from (
        select run_id, turn, lag(turn) over (partition by run_id order by seq) as earlier
        from log_entries
      ) e
      where turn < earlier`,
  )
  await none(
    'two answers of one turn',
    `select run_id
      from log_entries
      where message_type = 'FINAL_ANSWER'
      group by run_id, turn
      having count(*) > 1`,
  )
  await none(
    'a turn without a request',
    `select r.id
      from runs r, generate_series(1, r.turn) t
      where not exists (select 1 from messages m where m.run_id = r.id and m.turn = t)`,
  )
  await none(
    'two prompts of one turn',
    `select run_id
      from messages
      where mode = 'prompt'
      group by run_id, turn
      having count(*) > 1`,
  )

  const messages = await rows<{ run_id: number; n: number }>(
    app,
    'select run_id, count(*) as n from messages group by run_id',
  )
  expect(new Map(messages.map(({ run_id, n }) => [run_id, n]))).toEqual(prompts_accepted)

  type Move = { status_before: RunStatus; status_after: RunStatus; turn_before: number; turn_after: number }
  const moves = await rows<Move>(app, 'select * from moves order by n')
  const forbidden = moves.filter(
    ({ status_before, status_after }) =>
      status_before !== status_after && !edges[status_before].includes(status_after),
  )
  expect(forbidden).toEqual([])
  // One more turn for each resume of an ended run, and for nothing else.
  const turned = moves.filter(({ turn_before, turn_after }) => turn_before !== turn_after)
  expect(turned).toEqual(moves.filter(({ status_before }) => ended.includes(status_before)))
  expect(turned.filter(({ turn_before, turn_after }) => turn_after !== turn_before + 1)).toEqual([])
  expect(turned.length).toBeGreaterThan(0)
}
