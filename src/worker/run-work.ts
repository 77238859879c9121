import { askNobody, createAsk } from '../agent/aside.ts'
import { type Conversation, rebuildConversation } from '../agent/conversation.ts'
import { type LoopOutcome, runLoop } from '../agent/loop.ts'
import { planAgentInstructions } from '../agent/phases/plan-agent.ts'
import { retryPolicy } from '../agent/retry-policy.ts'
import { createTokenEstimate } from '../agent/token-estimate.ts'
import { toolSpecs } from '../agent/tool.ts'
import { tools } from '../agent/tools/table.ts'
import { isDatabaseAway } from '../core/database-away.ts'
import { mayChangeFiles } from '../core/file-tools.ts'
import { errorText, type Log, logWith } from '../core/log.ts'
import type { Sandbox } from '../sandbox/port.ts'
import { getRun, type RunRow } from '../store/runs.ts'
import { patient } from '../store/undone.ts'
import { type AskingDeps, createAsideJournal } from './aside-journal.ts'
import { type Base, prepareBase } from './base.ts'
import { costOfChildren, relatedRuns } from './child-runs.ts'
import { Claim, FencedError } from './claim.ts'
import { closeFiles, FINISH_MS, type Opened } from './close-files.ts'
import type { Control } from './control.ts'
import { giveSpaceBack, namedDiskFull } from './disk-full.ts'
import { listReachable } from './egress.ts'
import { endOf, endOfControl } from './end-of.ts'
import { type End, endTurn } from './end-turn.ts'
import { type Followed, followUnlessInterrupted, isOfChecks, LOOKED_AGAIN } from './follow-checks.ts'
import { type Heartbeat, LEASE_SECONDS, startHeartbeat } from './heartbeat.ts'
import { isToBeSetUp } from './home.ts'
import { readInstructions } from './instructions.ts'
import { liveOutput } from './live-output.ts'
import {
  chargeLostCall,
  closeOpenCalls,
  createLoopJournal,
  readJournal,
  recordRecovery,
  tellRestored,
  tellSetupFailures,
} from './loop-journal.ts'
import { type ObservedTurn, observeTurn } from './observe-turn.ts'
import { isElsewhere } from './place.ts'
import { publish } from './publish.ts'
import { openRunSecrets } from './run-secrets.ts'
import type { WorkerDeps } from './settings.ts'
import { leftOutBySetup, setupOf } from './setup.ts'
import { watchLimits } from './turn-limits.ts'
import { openWorkspace, type Workspace } from './workspace.ts'

/** Works on a claimed run until its turn ends, one way or another. Never rejects: whatever happens becomes an end that the trace shows. */
export async function workOnRun(shared: WorkerDeps, run: RunRow, control: Control): Promise<void> {
  const { id: run_id, organization_id, epoch, owner } = run
  const written: Log = (level, message, fields) => shared.log(level, message, claim.redactor.value(fields))
  const log = logWith(written, { run_id, organization_id, epoch, owner })
  // A database that is away for a moment holds a run up; one that is away for as long as the lease lasts costs its owner the run.
  let patient_until = Number.POSITIVE_INFINITY
  const deps = { ...shared, log, db: patient(shared.db, () => control.lost || performance.now() > patient_until) }
  control.signal.addEventListener('abort', () => {
    patient_until = Math.min(patient_until, performance.now() + LEASE_SECONDS * 1_000)
  })
  const claim = new Claim(deps.db, run, shared.db)
  const turn = observeTurn(deps.telemetry, run)
  log('info', 'run claimed', { turn: run.turn, phase: run.phase, recovered: run.recovery_cause })
  const beat = startHeartbeat(claim, deps.hub, control)
  const opened: Opened = { current: null, ended: false }
  let end: End
  try {
    end = namedDiskFull(await workToEnd(deps, claim, run, control, beat, opened, turn))
  } catch (error) {
    beat.expire()
    end = namedDiskFull(endOf(error, control))
    if (end.kind === 'lost' && isDatabaseAway(error)) log('error', 'the database is away: the run is let go', { error: errorText(error) })
    if (end.kind === 'failed' && end.code === 'internal') log('error', 'run failed inside', { error: errorText(error) })
  }
  opened.ended = true
  patient_until = performance.now() + FINISH_MS
  await closeFiles(opened, end)
  patient_until = performance.now() + LEASE_SECONDS * 1_000
  await beat.stop()
  await writeEnd(deps, claim, run, end)
  await giveSpaceBack(deps, run, end).catch(error => log('error', 'the files of a run could not be removed', { error: errorText(error) }))
  claim.close()
  turn.ended(end)
  log('info', 'turn ended', { end: end.kind, reason: 'reason' in end ? end.reason : null })
}

/** An end that cannot be written is a failure of ours, said at once; when the database is away, the next owner of the run writes it. */
async function writeEnd(deps: WorkerDeps, claim: Claim, run: RunRow, end: End): Promise<void> {
  const failure: End = {
    kind: 'failed',
    reason: 'agent_error',
    code: 'internal',
    message: 'The end of the turn could not be written.',
    phase: 'agent',
  }
  for (const attempt of [end, failure]) {
    try {
      return await endTurn(deps, claim, run, attempt)
    } catch (error) {
      if (error instanceof FencedError || isDatabaseAway(error)) return
      deps.log('error', 'the end of a turn could not be written', { end: attempt.kind, error: errorText(error) })
    }
  }
}

async function workToEnd(
  deps: WorkerDeps,
  claim: Claim,
  run: RunRow,
  control: Control,
  beat: Heartbeat,
  opened: Opened,
  turn: ObservedTurn,
): Promise<End> {
  const model = deps.models.get(run.model)
  if (!model)
    return {
      kind: 'failed',
      reason: 'model_auth',
      code: 'model_not_configured',
      message: `The model ${run.model} is not configured any more.`,
      phase: 'model',
    }
  const secrets = await openRunSecrets(deps, claim, run)
  const base = await prepareBase(deps, claim, run, control.signal)
  if (control.signal.aborted) return endOfControl(control)

  // The first model call needs the conversation only: the workspace is made while the model thinks, and the first tool waits for it.
  const openOnce = async (): Promise<Workspace> => {
    opened.workspace ??= openWorkspace(deps, claim, run, base, secrets, setup, control.signal).catch(error => {
      beat.expire()
      control.end(endOf(error, control))
      throw error
    })
    opened.current = await opened.workspace
    return opened.current
  }
  const sandbox = async () => (await openOnce()).sandbox
  // Files that have to be brought here first are a part of the start, and shown as that.
  const elsewhere = isElsewhere(deps, run)
  const setup = await setupOf(deps, run)
  const files_first = elsewhere || isToBeSetUp(deps, run, setup)
  const begin = async () => run.status !== 'starting' || claim.move({ from: ['starting'], to: 'running', phase: 'agent' })
  const [told, records, started] = await Promise.all([
    readInstructions(deps, claim, run.user_id, base, run.turn === 1),
    readJournal(claim),
    files_first || begin(),
  ])
  if (!started) return endOfControl(control)
  const conversation = rebuildConversation(records, run.turn)
  const late = isOfChecks(run, records)
  if (late) conversation.ending = LOOKED_AGAIN
  if (run.recovering_since !== null) await recordRecovery(claim, run, conversation)
  const { open_reservation, noticed } = conversation
  if (open_reservation !== null) await chargeLostCall(claim, open_reservation)
  conversation.messages.push(...(await closeOpenCalls(claim, conversation.open_calls)))

  // What the conversation says of files is no use where they are not the ones that it means.
  if (files_first) {
    const { restored, setup_failures } = await openOnce()
    if (!(await begin())) return endOfControl(control)
    // An answer about files that are lost is no answer: the agent looks again. One about files that are there is left as it is.
    if (restored !== null && !restored.up_to_date) conversation.ending = null
    if (conversation.ending === null) conversation.messages.push(...(await tellRestored(claim, restored)))
    if (conversation.ending === null) conversation.messages.push(...(await tellSetupFailures(claim, setup_failures)))
  }

  const said = planAgentInstructions({
    repository: base?.repository.full_name ?? null,
    branch: base?.branch ?? null,
    base_ref: base?.ref ?? null,
    secrets: Object.keys(secrets.environment),
    set_up_by: setup?.commands ?? [],
    set_up: setup === null ? [] : await leftOutBySetup(deps, run),
    reachable: await listReachable(deps, claim, base?.repository.id ?? null),
    ...told,
  })
  const instructions = secrets.redactor.text(said)
  const estimate = createTokenEstimate(instructions, toolSpecs(tools))
  const meter = watchLimits(deps, run, { model, estimate, noticed }, beat.worked_ms, control)
  meter.childrenCost(await costOfChildren(claim))
  if (open_reservation !== null) {
    meter.charged(open_reservation)
    conversation.turn_tokens += open_reservation.input_tokens + open_reservation.output_tokens
  }
  const runAgent = (conversation: Conversation) => {
    const stop = meter.watch()
    return runLoop({
      model: turn.model(model),
      instructions,
      tools,
      conversation,
      journal: turn.journal(
        createLoopJournal(claim, run.model, name => (mayChangeFiles(name) ? opened.current?.checkpoints.toolEnded() : undefined)),
      ),
      meter,
      retry: { ...retryPolicy, left_ms: meter.left_ms },
      timeouts: deps.model_timeouts,
      sandbox,
      runs: relatedRuns(deps, claim, control, meter.childrenCost),
      redactor: secrets.redactor,
      tool_seconds: deps.tool_seconds,
      sandboxReady: () => opened.current !== null,
      on_model_call: () => void setImmediate(() => opened.ended || openOnce().catch(() => {})),
      signal: control.signal,
      leaving: () => control.leaving,
      stepSignal: () => control.stepSignal(),
      on_progress: () => claim.progressed(),
      on_delta: delta => claim.liveText({ event: 'text', ...delta }),
      async on_tool(call, signal) {
        if (mayChangeFiles(call.name)) await opened.current?.checkpoints.idle(signal)
        claim.toolStarted(call)
      },
      on_output: liveOutput(claim),
    }).finally(stop)
  }
  const checking = { deps, claim, setup, secrets, late, started: async (id: string | null) => (await openOnce()).alongside(id) }
  const asking = { model: turn.model(model), journal: createAsideJournal(claim), redactor: secrets.redactor, timeouts: deps.model_timeouts }
  const ask = deps.model_evaluations ? createAsk({ ...asking, ...meter, spent: meter.charged, signal: control.signal }) : askNobody
  for (let going_on = conversation, row = run, at = base; ; ) {
    const { sent_back, check_rounds: rounds } = going_on
    const follow = async (answer: string) => {
      if (at === null) return null
      const [stop, signal] = [meter.watch(), control.stepSignal()]
      return followUnlessInterrupted({ ...checking, run: row, base: at, rounds, answer, signal }).finally(stop)
    }
    const end = await endOfLoop({ ...deps, ask }, claim, row, at, sandbox, sent_back, follow, control, await runAgent(going_on))
    if (end !== 'sent_back' && end !== 'interrupted') return end
    if (!(await claim.move({ from: ['running'], to: 'running', phase: 'agent' }))) return endOfControl(control)
    // What was pushed meanwhile is what the next push builds on.
    row = (await getRun(deps.db, run.organization_id, run.id)) ?? row
    at = await prepareBase(deps, claim, row, control.signal)
    going_on = rebuildConversation(await readJournal(claim), run.turn)
    // Somebody has said something, or a limit is reached: either is looked for before the answer counts.
    if (end === 'interrupted') going_on.ending = null
  }
}

async function endOfLoop(
  deps: AskingDeps,
  claim: Claim,
  run: RunRow,
  base: Base | null,
  open: () => Promise<Sandbox>,
  sent_back: Conversation['sent_back'],
  follow: (answer: string) => Promise<Followed | null>,
  control: Control,
  outcome: LoopOutcome,
): Promise<End | 'sent_back' | 'interrupted'> {
  if (outcome.kind === 'stopped') return endOfControl(control)
  if (outcome.kind === 'failed') {
    if (outcome.reason === 'model_auth')
      deps.log('error', 'a model provider refuses its key: no run of this model works until it is given another', { model: run.model })
    return outcome
  }
  if (outcome.kind === 'ask') return { kind: 'waiting', approval_of: null }
  if (outcome.kind === 'limit')
    return outcome.limit.kind === 'budget'
      ? { kind: 'paused', reason: 'budget', message: outcome.limit.message }
      : { kind: 'failed', reason: outcome.limit.reason, code: outcome.limit.reason, message: outcome.limit.message, phase: 'agent' }
  const sandbox = await open()
  const answer = { text: outcome.text.trim(), thought: outcome.thought }
  if (base === null) return { kind: 'completed', ...answer }
  if (!(await claim.move({ from: ['running'], to: 'running', phase: 'push' }))) return endOfControl(control)
  const published = await publish(deps, claim, run, base, sandbox, answer.text, sent_back, control)
  if (control.signal.aborted) return endOfControl(control)
  if (published.kind === 'sent_back') return 'sent_back'
  if (published.kind === 'approval') return { kind: 'waiting', approval_of: published.head }
  if (published.kind === 'failed') return { ...published, phase: 'push' }
  if (published.kind === 'refused')
    return {
      kind: 'completed',
      ...answer,
      text: `${answer.text}\n\nThe remote refused the branch ${base.branch}, so there is no pull request: ${published.message}`,
    }
  if (published.kind !== 'pushed') return { kind: 'completed', ...answer }
  const followed = await follow(answer.text)
  if (control.signal.aborted || followed?.kind === 'left') return endOfControl(control)
  if (followed?.kind === 'sent_back' || followed?.kind === 'interrupted') return followed.kind
  if (followed?.kind === 'waiting') return { kind: 'waiting_for_checks', seconds: followed.seconds }
  return { kind: 'completed', ...answer, text: followed?.said ? `${answer.text}\n\n${followed.said}` : answer.text }
}
