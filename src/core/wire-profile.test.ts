import { expect, test } from 'vitest'
import type { Problem } from '../contract/error-codes.ts'
import {
  completionReasons,
  failureReasons,
  pauseReasons,
  publicSourceTypes,
  type RunStatus,
  RunStatus as runStatus,
  SourceType,
  WaitingOn,
} from '../contract/runs/runs.ts'
import {
  codegenFilter,
  codegenProblem,
  codegenRun,
  codegenStatus,
  codegenStatuses,
  logsHead,
  publicSourceType,
  type RunState,
  sourcesShownAs,
} from './wire-profile.ts'

const details: Partial<Record<RunStatus, Partial<RunState>[]>> = {
  waiting: WaitingOn.options.map(waiting_on => ({ waiting_on })),
  paused: pauseReasons.map(status_reason => ({ status_reason })),
  failed: failureReasons.map(status_reason => ({ status_reason })),
  completed: [null, ...completionReasons].map(status_reason => ({ status_reason })),
}
/** Every state that a run can be in and that its word depends on. */
const states = runStatus.options.flatMap((status): RunState[] =>
  (details[status] ?? [{}]).map(detail => ({ status, ...detail })),
)

test.each<[string, RunState[]]>([
  ['ACTIVE', [...(['queued', 'starting', 'running', 'cancelling'] as const).map(status => ({ status }))]],
  ['ACTIVE', (['tool_approval', 'ci'] as const).map(waiting_on => ({ status: 'waiting', waiting_on }))],
  [
    'PAUSED',
    [
      { status: 'waiting', waiting_on: 'user_input' },
      { status: 'paused', status_reason: 'budget' },
      { status: 'paused' },
    ],
  ],
  [
    'COMPLETE',
    [
      { status: 'completed', status_reason: null, waiting_on: null },
      { status: 'completed', status_reason: 'push_refused' },
    ],
  ],
  ['CANCELLED', [{ status: 'cancelled' }]],
  ['TIMEOUT', [{ status: 'failed', status_reason: 'timeout' }]],
  ['MAX_ITERATIONS_REACHED', [{ status: 'failed', status_reason: 'max_steps' }]],
  ['OUT_OF_TOKENS', [{ status: 'failed', status_reason: 'out_of_tokens' }]],
  [
    'ERROR',
    [
      { status: 'failed', status_reason: 'agent_error' },
      { status: 'failed', status_reason: 'lost' },
      { status: 'failed' },
    ],
  ],
])('%s is the word for %j', (word, runs) => {
  for (const run of runs) {
    expect(codegenStatus(run)).toBe(word)
    expect(logsHead('codegen', { ...run, result: 'x' })).toEqual({ status: word, result: 'x' })
    expect(logsHead('standard', { ...run, result: '' })).toEqual({ status: run.status, result: '' })
  }
})

test('a filter by a word finds exactly the runs with that word, in any case', () => {
  for (const name of codegenStatuses)
    for (const spelled of [name, name.toLowerCase()]) {
      const filter = codegenFilter(spelled)
      if (filter === null) throw new Error(`${spelled} is not a filter`)
      const found = states.filter(
        ({ status, waiting_on, status_reason }) =>
          filter.statuses.includes(status) && !filter.except.includes(waiting_on ?? status_reason ?? ''),
      )
      expect(found).toEqual(states.filter(state => codegenStatus(state) === name))
      expect(found).not.toEqual([])
    }
})

test('a status of the public API that no run has finds no runs, and any other is invalid', () => {
  for (const name of ['FAILED', 'EVALUATION', 'PENDING'])
    expect(codegenFilter(name)).toEqual({ statuses: [], except: [] })
  for (const name of ['', 'DONE', 'RUNNING ', 'COMPLETE,ACTIVE', '__proto__'])
    expect(codegenFilter(name)).toBeNull()
})

test('every source is one of the public API, which finds the runs that are shown under it', () => {
  for (const source of SourceType.options) {
    expect(publicSourceTypes).toContain(publicSourceType(source))
    expect(sourcesShownAs(publicSourceType(source))).toContain(source)
    expect(sourcesShownAs(source)).toContain(source)
  }
  for (const source of publicSourceTypes) expect(publicSourceType(source)).toBe(source)
  expect(sourcesShownAs('FORK')).toEqual(['FORK'])
})

test('a result is null until there is one, and only fields that are there are changed', () => {
  expect(codegenRun({ status: 'running', result: '', source_type: 'FORK' })).toEqual({
    status: 'ACTIVE',
    result: null,
    source_type: 'API',
  })
  expect(codegenRun({ status: 'completed', result: 'Done.' })).toEqual({ status: 'COMPLETE' })
})

const problem: Problem = {
  type: 'http://service.test/docs/errors#invalid_request',
  title: 'Invalid request',
  status: 400,
  status_code: 400,
  code: 'invalid_request',
  detail: 'prompt: is required',
  message: 'prompt: is required',
  instance: '/x',
  request_id: 'r',
  errors: [{ loc: ['body', 'prompt'], msg: 'is required', type: 'custom' }],
}

test('an invalid request is 422 with the list as detail, and the message next to it', () => {
  expect(codegenProblem(problem)).toEqual({
    ...problem,
    status: 422,
    status_code: 422,
    detail: problem.errors,
  })
  expect(codegenProblem({ ...problem, errors: [] })).toMatchObject({
    status: 422,
    detail: [{ loc: [], msg: 'prompt: is required', type: 'invalid_request' }],
    message: 'prompt: is required',
  })
})

test('every other problem is the same', () => {
  const missing: Problem = { ...problem, code: 'not_found', status: 404, status_code: 404, errors: [] }
  expect(codegenProblem(missing)).toBe(missing)
})
