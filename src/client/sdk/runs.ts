import { type FollowOptions, followRun, type RunEvent } from './follow.ts'
import type { AgentRun, Body, DryRun, LogEntry, Query, Result } from './operations.ts'
import { listed, type PagedList, paged } from './paged.ts'
import type { CallOptions, Core } from './request.ts'
import { type WaitOptions, waitForRun } from './wait.ts'

export type LogPages = PagedList<Result<'getAgentRunLogs'>, LogEntry>

/** The run when it is awaited; its methods need not be awaited first. */
export type RunHandle = Promise<AgentRun> & {
  /**
   * The run once it rests: it has ended, is paused or waits for a person. Check `status`: a failed run does
   * not reject.
   */
  wait(options?: WaitOptions): Promise<AgentRun>
  logs(query?: Query<'getAgentRunLogs'>, options?: CallOptions): LogPages
  follow(options?: FollowOptions): AsyncGenerator<RunEvent>
}

type Changes = Body<'updateAgentRun'>
type FollowUp = Omit<Body<'resumeAgentRun'>, 'agent_run_id'>
/** Without a range the whole change; `from_seq` 0: from the start. */
type DiffOptions = CallOptions & Omit<Query<'getAgentRunDiff'>, 'format'>

export type Runs = {
  create(input: Body<'createAgentRun'>, options?: CallOptions): RunHandle
  /** Returns what a create would do and what prevents it, without creating anything. */
  dryRun(input: Body<'createAgentRun'>, options?: CallOptions): Promise<DryRun>
  get(agent_run_id: number, options?: CallOptions): RunHandle
  /** Sends a follow-up: a prompt, or a prompt with more. Its `wait` is for what the run makes of it. */
  resume(agent_run_id: number, input: string | FollowUp, options?: CallOptions): RunHandle
  /** Begins a new run at entry `from_seq` of another one, with its conversation and its files. */
  fork(
    agent_run_id: number,
    input: number | Omit<Body<'forkAgentRun'>, 'agent_run_id'>,
    options?: CallOptions,
  ): RunHandle
  stop(agent_run_id: number, options?: CallOptions): RunHandle
  /** Pauses a run; a resume continues it. Its `wait` resolves when the worker has released the run. */
  pause(agent_run_id: number, options?: CallOptions): RunHandle
  update(agent_run_id: number, changes: Changes, options?: CallOptions): RunHandle
  archive(agent_run_id: number, options?: CallOptions): RunHandle
  unarchive(agent_run_id: number, options?: CallOptions): RunHandle
  list(query?: Query<'listAgentRuns'>, options?: CallOptions): PagedList<Result<'listAgentRuns'>, AgentRun>
  /** `limit` is the size of a page. Iterating continues from the last entry, with any filter. */
  logs(agent_run_id: number, query?: Query<'getAgentRunLogs'>, options?: CallOptions): LogPages
  /**
   * Yields the parts of a search as they are found; their `seqs` together are all matching entries. The first
   * part comes at once, and the last one is `complete`.
   */
  search(
    agent_run_id: number,
    query: Query<'searchAgentRunLogs'>,
    options?: CallOptions,
  ): AsyncGenerator<Result<'searchAgentRunLogs'>, undefined, undefined>
  follow(agent_run_id: number, options?: FollowOptions): AsyncGenerator<RunEvent>
  wait(agent_run_id: number, options?: WaitOptions): Promise<AgentRun>
  /** The outcome of every step, and how often another worker continued the run. */
  recovery(
    agent_run_id: number,
    query?: Query<'getAgentRunRecovery'>,
    options?: CallOptions,
  ): Promise<Result<'getAgentRunRecovery'>>
  /**
   * Analyzes at once why a run failed, from its logs; `agent_run_id` of the response is the run that explains
   * it.
   */
  analyze(
    agent_run_id: number,
    input?: { prompt?: string },
    options?: CallOptions,
  ): Promise<Result<'analyzeAgentRunLogs'>>
  /** The run that it belongs to, and the runs that belong to it: children, forks, analyses. */
  related(
    agent_run_id: number,
    query?: Query<'listRelatedAgentRuns'>,
    options?: CallOptions,
  ): PagedList<Result<'listRelatedAgentRuns'>, Result<'listRelatedAgentRuns'>['items'][number]>
  diff(agent_run_id: number, options?: DiffOptions): Promise<Result<'getAgentRunDiff'>>
  /** The same as git writes it. */
  patch(agent_run_id: number, options?: DiffOptions): Promise<string>
}

/** Returns the calls about runs. A created run is a promise that can also be waited for and followed. */
export function createRuns(core: Core): Runs {
  const handle = (created: Promise<AgentRun>): RunHandle =>
    Object.assign(created, {
      async wait(options: WaitOptions = {}) {
        const run = await created
        return waitForRun(core, run.id, run.total_logs, options)
      },
      logs: (query?: Query<'getAgentRunLogs'>, options?: CallOptions) =>
        logPages(core, () => created.then(run => run.id), query, options),
      async *follow(options: FollowOptions = {}) {
        const run = await created
        yield* followRun(core, run.id, options)
      },
    })
  const reference = (agent_run_id: number, options?: CallOptions) => ({
    body: { agent_run_id },
    repeatable: true,
    ...options,
  })

  return {
    create: (body, options) => handle(core.call('createAgentRun', { body, ...options })),
    dryRun: (body, options) => core.call('dryRunAgentRun', { body, repeatable: true, ...options }),
    get: (agent_run_id, options) =>
      handle(core.call('getAgentRun', { params: { agent_run_id }, ...options })),
    resume(agent_run_id, input, options) {
      const follow_up = typeof input === 'string' ? { prompt: input } : input
      return handle(core.call('resumeAgentRun', { body: { agent_run_id, ...follow_up }, ...options }))
    },
    fork(agent_run_id, input, options) {
      const body = typeof input === 'number' ? { from_seq: input } : input
      return handle(core.call('forkAgentRun', { body: { agent_run_id, ...body }, ...options }))
    },
    stop: (agent_run_id, options) => handle(core.call('stopAgentRun', reference(agent_run_id, options))),
    pause: (agent_run_id, options) => handle(core.call('pauseAgentRun', reference(agent_run_id, options))),
    update: (agent_run_id, body, options) =>
      handle(core.call('updateAgentRun', { params: { agent_run_id }, body, repeatable: true, ...options })),
    archive: (agent_run_id, options) =>
      handle(core.call('archiveAgentRun', reference(agent_run_id, options))),
    unarchive: (agent_run_id, options) =>
      handle(core.call('unarchiveAgentRun', reference(agent_run_id, options))),
    list: (query = {}, options) =>
      listed(query, position => core.page('listAgentRuns', { query: position, ...options })),
    logs: (agent_run_id, query, options) =>
      logPages(core, () => Promise.resolve(agent_run_id), query, options),
    search: (agent_run_id, query, options) => searchPages(core, agent_run_id, query, options),
    follow: (agent_run_id, options) => followRun(core, agent_run_id, options),
    wait: (agent_run_id, options) => waitForRun(core, agent_run_id, 0, options),
    recovery: (agent_run_id, query, options) =>
      core.call('getAgentRunRecovery', { params: { agent_run_id }, ...(query && { query }), ...options }),
    analyze: (agent_run_id, body, options) =>
      core.call('analyzeAgentRunLogs', { params: { agent_run_id }, body, ...options }),
    related: (agent_run_id, query = {}, options) =>
      listed(query, position =>
        core.page('listRelatedAgentRuns', { params: { agent_run_id }, query: position, ...options }),
      ),
    diff: (agent_run_id, { from_seq, to_seq, ...options } = {}) =>
      core.call('getAgentRunDiff', { params: { agent_run_id }, query: { from_seq, to_seq }, ...options }),
    async patch(agent_run_id, { from_seq, to_seq, ...options } = {}) {
      const query = { format: 'patch' as const, from_seq, to_seq }
      const response = await core.request('getAgentRunDiff', { params: { agent_run_id }, query, ...options })
      return response.text()
    },
  }
}

async function* searchPages(
  core: Core,
  agent_run_id: number,
  query: Query<'searchAgentRunLogs'>,
  options?: CallOptions,
) {
  for (let position = query; ; ) {
    const part = await core.call('searchAgentRunLogs', {
      params: { agent_run_id },
      query: position,
      ...options,
    })
    yield part
    if (part.complete) return undefined
    position = { ...query, after_seq: part.searched_to }
  }
}

function logPages(
  core: Core,
  id: () => Promise<number>,
  query: Query<'getAgentRunLogs'> = {},
  options: CallOptions = {},
): LogPages {
  return paged({
    first: query,
    load: async position =>
      core.call('getAgentRunLogs', { params: { agent_run_id: await id() }, query: position, ...options }),
    items: page => page.logs,
    next(page, { skip: _skip, ...position }) {
      const last = page.logs.at(-1)
      if (last === undefined || page.logs.length < page.size) return null
      return position.reverse ? { ...position, before_seq: last.seq } : { ...position, after_seq: last.seq }
    },
  })
}
