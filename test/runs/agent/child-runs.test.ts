import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import type { AgentRun } from '../../../src/contract/runs/runs.ts'
import { digest } from '../../../src/core/access/token.ts'
import { setRole } from '../../../src/store/access/members.ts'
import { insertToken } from '../../../src/store/access/token-access.ts'
import { type App, rows } from '../../start-app.ts'
import { allLogs, awaitEnd, awaitRun, createRun } from '../await-run.ts'
import {
  type CodingApp,
  calls,
  finish,
  gitIn,
  makeRepository,
  PRICED,
  shell,
  startCodingApp,
} from '../coding-app.ts'
import { getRun, type Plays, playedBy, startRun, textOfRequest } from './child-script.ts'

const start = (plays: Plays, env: Record<string, string> = {}) =>
  startCodingApp(playedBy(plays), { AGENTRUN_REPO_PATHS: tmpdir(), ...env })
const runs = (app: App) => `/v1/organizations/${app.org_id}/agent/run`
const childrenOf = async (app: App, id: number): Promise<AgentRun[]> =>
  (await app.call('GET', `${runs(app)}s?parent_run_id=${id}&limit=100`)).body.items.toReversed()
/** The results of the tools of that name, in order. */
const outcomes = async (app: App, id: number, name: string) =>
  (await allLogs(app, id))
    .filter(entry => entry.tool_name === name && entry.message_type === 'ACTION')
    .map(entry => entry.tool_output)
const links = async (app: App, id: number) =>
  (await allLogs(app, id))
    .filter(entry => entry.message_type === 'AGENT_RUN_LINK')
    .map(entry => entry.observation)

/** Another repository of the organization, and the output of git there. */
async function addRepository(app: CodingApp) {
  const path = makeRepository({ 'README.md': '# Other\n' })
  const { status, body } = await app.call('POST', `/v1/organizations/${app.org_id}/repos`, { url: path })
  expect(status).toBe(200)
  return { ...body, git: (...args: string[]) => gitIn(path, ...args) }
}

test('two children work in parallel in another repository, each with a branch and a pull request, and their parent, which occupies no slot meanwhile, gets their results', async () => {
  let named = ''
  let numbered = ''
  const child = (word: string) => (step: number) =>
    step === 0 ? calls(shell(`echo ${word} > ${word}.txt`)) : { text: `Made ${word}.txt.` }
  await using app = await start(
    {
      '@parent': step => {
        if (step === 0)
          return calls(
            startRun('@child one', { repository: named, title: 'One' }),
            startRun('@child two', { repository: numbered }),
          )
        return step === 2 ? calls(getRun({ wait_seconds: 600 })) : { text: 'Both are done.' }
      },
      '@child one': child('one'),
      '@child two': child('two'),
    },
    { AGENTRUN_WORKER_CONCURRENCY: '1' },
  )
  const other = await addRepository(app)
  named = other.full_name
  numbered = String(other.id)
  const { id } = await createRun(app, { prompt: '@parent', repo_id: app.repo_id })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'Both are done.' })

  const children = await childrenOf(app, id)
  expect(children).toMatchObject(
    ['one', 'two'].map((word, i) => ({
      status: 'completed',
      source_type: 'PARENT_RUN',
      repo_id: other.id,
      parent_run_id: id,
      user_id: app.user_id,
      title: i === 0 ? 'One' : '@child two',
      result: `Made ${word}.txt.`,
      github_pull_requests: [{ state: 'open' }],
    })),
  )
  const heads = children.map(run => run.github_pull_requests[0]?.head_branch_name ?? '')
  expect(new Set(heads).size).toBe(2)
  expect(heads.map(head => other.git('diff', '--name-only', `main...${head}`))).toEqual([
    'one.txt\n',
    'two.txt\n',
  ])

  const [seen] = await outcomes(app, id, 'get_run')
  expect(seen.runs).toMatchObject(
    children.map(run => ({
      agent_run_id: run.id,
      status: 'completed',
      result: run.result,
      pull_requests: [{ state: 'open' }],
    })),
  )
  expect(await links(app, id)).toMatchObject(
    children.map(run => ({ agent_run_id: run.id, relation: 'child' })),
  )
  for (const run of children)
    expect(await links(app, run.id)).toMatchObject([{ agent_run_id: id, relation: 'parent' }])
})

test('an agent sees only its own children: other runs are not found, and playbooks and unknown repositories start none', async () => {
  let stranger = 0
  await using app = await start({
    '@parent': step =>
      [
        calls(getRun({ agent_run_id: stranger }), getRun({ agent_run_id: 424_242 }), getRun()),
        calls(startRun('```playbook\n- run: ls\n```'), startRun('x', { repository: 'no/such' })),
      ][step === 0 ? 0 : step === 3 ? 1 : 2] ?? { text: 'Done.' },
  })
  stranger = (await createRun(app, { prompt: '@stranger with a secret plan' })).id
  await awaitEnd(app, stranger)
  const { id } = await createRun(app, { prompt: '@parent' })
  // A person started it, so it is not a child of the agent.
  await awaitEnd(app, (await createRun(app, { prompt: '@stranger', parent_run_id: id })).id)
  await awaitEnd(app, id)
  const [foreign, unknown, all] = await outcomes(app, id, 'get_run')
  expect(foreign.error).toBe(`This run has started no run ${stranger}. Its runs are: none.`)
  expect(unknown.error).toBe('This run has started no run 424242. Its runs are: none.')
  expect(all).toEqual({ status: 'ok', runs: [] })
  const [playbook, repository] = await outcomes(app, id, 'start_run')
  expect(playbook.error).toMatch(/must not be a playbook/)
  expect(repository.error).toMatch(/^No repository "no\/such"\. Available: \d+ \(/)
  expect(await rows(app, `select id from runs where source_type = 'PARENT_RUN'`)).toEqual([])
})

test('a run starts at most ten children', async () => {
  const eleven = Array.from({ length: 11 }, (_, i) => startRun(`@child ${i}`))
  await using app = await start(
    {
      '@parent': step => (step === 0 ? calls(...eleven) : { text: 'Started.' }),
      '@child': () => ({ stall: 'before_headers' }),
    },
    { AGENTRUN_WORKER_CONCURRENCY: '1' },
  )
  const { id } = await createRun(app, { prompt: '@parent' })
  await awaitEnd(app, id)
  expect(await childrenOf(app, id)).toHaveLength(10)
  expect((await outcomes(app, id, 'start_run')).map(({ error }) => error ?? null)).toEqual([
    ...Array.from({ length: 10 }, () => null),
    'This run has started 10 runs, which is the maximum.',
  ])
})

test('the third generation starts no children', async () => {
  await using app = await start({
    '@generation': step => (step === 0 ? calls(startRun('@generation')) : { text: 'Started.' }),
  })
  let { id } = await createRun(app, { prompt: '@generation' })
  for (let generation = 0; generation < 3; generation++) {
    await awaitEnd(app, id)
    id = (await childrenOf(app, id))[0]?.id ?? 0
  }
  await awaitEnd(app, id)
  expect(await childrenOf(app, id)).toEqual([])
  expect((await outcomes(app, id, 'start_run'))[0].error).toMatch(
    /child in generation 3, the last one that is allowed/,
  )
})

test('children get at most the remaining budget of their parent, it is reserved while they run, and their cost counts in its next turn too', async () => {
  const release = Promise.withResolvers<void>()
  const usage = { input: 20_000, output: 1_000 }
  await using app = await start({
    '@parent': (step, request) => {
      if (textOfRequest(request).includes('Go on')) return { text: 'Went on.' }
      return step === 0
        ? calls(startRun('@child a', { max_cost_usd: 0.4 }), startRun('@child b', { max_cost_usd: 5 }))
        : { text: 'Not paid for.' }
    },
    '@child': async () => {
      await release.promise
      return { ...finish('Done.'), usage }
    },
  })
  const { id } = await createRun(app, {
    prompt: '@parent',
    model: PRICED.model,
    budget: { max_cost_usd: '1', max_steps: 7 },
  })
  const run = await awaitRun(app, id, ({ status }) => status === 'paused')
  expect(run).toMatchObject({ status_reason: 'budget', error: { code: 'budget' } })
  const children = await childrenOf(app, id)
  const [a, b] = children.map(child => Number(child.budget.max_cost_usd))
  expect(a).toBe(0.4)
  expect(b).toBeGreaterThan(0.59)
  expect(Number(run.usage.cost_usd) + 0.4 + Number(b)).toBeLessThanOrEqual(1)
  expect(children.map(child => child.budget.max_steps)).toEqual([6, 6])
  release.resolve()
  const ended = await Promise.all(children.map(child => awaitEnd(app, child.id)))
  const resume = (prompt: string, more = {}) =>
    app.call('POST', `${runs(app)}/resume`, { agent_run_id: id, prompt, ...more })
  // The cost of the children still counts against the budget of the parent.
  const spent = ended.reduce((sum, child) => sum + Number(child.usage.cost_usd), Number(run.usage.cost_usd))
  expect((await resume('Go on', { budget: { max_cost_usd: spent.toFixed(6) } })).status).toBe(200)
  expect(
    await awaitRun(app, id, again => again.status === 'paused' && again.total_logs > run.total_logs),
  ).toMatchObject({
    status_reason: 'budget',
  })
  expect((await resume('Go on', { budget: { max_cost_usd: '1' } })).status).toBe(200)
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'Went on.' })
})

test('a child whose model hangs blocks its parent no longer than the requested wait', async () => {
  await using app = await start({
    '@parent': step =>
      step === 0
        ? calls(startRun('@child'))
        : step === 1
          ? calls(getRun({ wait_seconds: 1 }))
          : { text: 'Without it.' },
    '@child': () => ({ stall: 'before_headers' }),
  })
  const { id } = await createRun(app, { prompt: '@parent' })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'Without it.' })
  const [seen] = await outcomes(app, id, 'get_run')
  expect(seen.runs).toMatchObject([{ result: '', pull_requests: [] }])
  const [child] = await childrenOf(app, id)
  expect(child?.terminal).toBe(false)
})

test('a stop immediately ends a run that waits for its children, with all their descendants; a deletion keeps them', async () => {
  const grandchild = Promise.withResolvers<void>()
  await using app = await start({
    '@parent': step => (step === 0 ? calls(startRun('@child')) : calls(getRun({ wait_seconds: 600 }))),
    '@child': step => (step === 0 ? calls(startRun('@grandchild')) : calls(getRun({ wait_seconds: 600 }))),
    '@grandchild': () => {
      grandchild.resolve()
      return { stall: 'before_headers' }
    },
  })
  const { id } = await createRun(app, { prompt: '@parent' })
  await grandchild.promise
  const [child] = await childrenOf(app, id)
  const [grand] = await childrenOf(app, child?.id ?? 0)
  expect((await app.call('POST', `${runs(app)}/stop`, { agent_run_id: id })).status).toBe(200)
  for (const each of [id, child?.id ?? 0, grand?.id ?? 0])
    expect(await awaitEnd(app, each)).toMatchObject({ status: 'cancelled', stop_requested_by: app.user_id })
  expect((await app.call('DELETE', `${runs(app)}/${id}`)).status).toBe(200)
  expect((await app.call('GET', `${runs(app)}/${child?.id}`)).body).toMatchObject({
    status: 'cancelled',
    parent_run_id: null,
  })
})

test('a stop ends the runs that an already ended child started', async () => {
  const grandchild = Promise.withResolvers<void>()
  await using app = await start({
    '@parent': step => (step === 0 ? calls(startRun('@child')) : { stall: 'before_headers' as const }),
    '@child': async step => {
      if (step === 0) return calls(startRun('@grandchild'))
      await grandchild.promise
      return { text: 'Left it to another.' }
    },
    '@grandchild': () => {
      grandchild.resolve()
      return { stall: 'before_headers' }
    },
  })
  const { id } = await createRun(app, { prompt: '@parent' })
  await grandchild.promise
  const [child] = await childrenOf(app, id)
  expect(await awaitEnd(app, child?.id ?? 0)).toMatchObject({ status: 'completed' })
  const [grand] = await childrenOf(app, child?.id ?? 0)
  expect((await app.call('POST', `${runs(app)}/stop`, { agent_run_id: id })).status).toBe(200)
  expect(await awaitEnd(app, grand?.id ?? 0)).toMatchObject({
    status: 'cancelled',
    stop_requested_by: app.user_id,
  })
  expect((await app.call('GET', `${runs(app)}/${child?.id}`)).body).toMatchObject({ status: 'completed' })
}, 60_000)

test('runs of a bound token start nothing in other repositories, and agents of a user who may no longer start runs start none', async () => {
  let elsewhere = ''
  let before: () => Promise<unknown> = async () => {}
  let requested = 0
  const play = async () => {
    if (requested++ % 2 === 1) return { text: 'Tried.' }
    await before()
    return calls(startRun('@child', { repository: elsewhere }))
  }
  await using app = await start({ '@parent': play, '@child': () => ({ text: 'Done.' }) })
  const other = await addRepository(app)
  elsewhere = other.full_name
  const token = {
    user_id: app.user_id,
    kind: 'personal',
    name: 'bound',
    wire_profile: 'standard',
    expires_in_seconds: null,
  } as const
  await insertToken(app.db, {
    ...token,
    digest: digest('bound-token'),
    organization_id: app.org_id,
    repository_ids: [app.repo_id],
  })
  const bound = { authorization: 'Bearer bound-token' }
  const input = { prompt: '@parent', repo_id: app.repo_id }
  const tried = async (id: number) => {
    await awaitEnd(app, id)
    return (await outcomes(app, id, 'start_run')).at(-1).error ?? null
  }

  const { body } = await app.call('POST', runs(app), input, bound)
  expect(await tried(body.id)).toMatch(/^No repository /)
  const { id } = await createRun(app, input)
  expect(await tried(id)).toBe(null)
  const resumed = await app.call('POST', `${runs(app)}/resume`, { agent_run_id: id, prompt: 'Again' }, bound)
  expect(resumed.status).toBe(200)
  await awaitRun(app, id, run => run.turn === 2 && run.terminal)
  expect(await tried(id)).toMatch(/^No repository /)

  before = () => setRole(app.db, app.org_id, app.user_id, 'READER')
  expect(await tried((await createRun(app, input)).id)).toBe('The user of this run may no longer start runs.')
})
