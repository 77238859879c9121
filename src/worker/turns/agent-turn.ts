import { type Conversation, rebuildConversation } from '../../agent/conversation.ts'
import { runLoop } from '../../agent/loop.ts'
import { planAgentInstructions } from '../../agent/phases/plan-agent.ts'
import { retryPolicy } from '../../agent/retry-policy.ts'
import { askNobody, createAsk } from '../../agent/side-question.ts'
import { createTokenEstimate } from '../../agent/token-estimate.ts'
import { toolSpecs } from '../../agent/tool.ts'
import { createToolCallModel } from '../../agent/tool-call-model.ts'
import { tools } from '../../agent/tools/table.ts'
import { mayChangeFiles } from '../../core/runs/file-tools.ts'
import { getRun } from '../../store/runs/runs.ts'
import { prepareBase } from '../base/base.ts'
import { readInstructions } from '../base/instructions.ts'
import { followUnlessInterrupted, isOfChecks, LOOKED_AGAIN } from '../checks/await-checks.ts'
import { liveOutput } from '../claim/live-output.ts'
import { listReachable } from '../sandbox/egress.ts'
import { openRunSecrets } from '../sandbox/run-secrets.ts'
import { leftOutBySetup, setupOf } from '../setup/setup.ts'
import { openWorkspace, type Workspace } from '../workspace/workspace.ts'
import { isElsewhere, isToBeSetUp } from '../workspace/workspace-folders.ts'
import { costOfChildren, relatedRuns } from './child-runs.ts'
import { endOf, endOfControl } from './end-of.ts'
import { endOfLoop } from './end-of-loop.ts'
import type { End } from './end-turn.ts'
import { createLoopJournal } from './loop-journal.ts'
import {
  addRestoredMessage,
  addSetupFailuresMessage,
  chargeLostCall,
  closeOpenCalls,
  readJournal,
  recordRecovery,
} from './recovered-conversation.ts'
import { createSideQuestionJournal } from './side-question-journal.ts'
import type { TurnOf } from './turn.ts'
import { watchLimits } from './turn-limits.ts'

/** One turn of the agent: from the conversation as the journal has it to an end. `run` is claimed. Rejects with what ends the turn otherwise. */
export async function agentTurn({ deps, writer, live, run, control, beat, opened, observed, startup }: TurnOf): Promise<End> {
  const tool_call = run.source_type === 'TOOL'
  const model = tool_call ? createToolCallModel(run.prompt) : deps.models.get(run.model)
  if (!model)
    return {
      kind: 'failed',
      reason: 'model_auth',
      code: 'model_not_configured',
      message: `The model ${run.model} is not configured any more.`,
      phase: 'model',
    }
  const secrets = await openRunSecrets(deps, writer, run)
  const base = await startup.during('mirror_ms', () => prepareBase(deps, writer, run, control.signal))
  if (control.signal.aborted) return endOfControl(control)

  // The first model call needs the conversation only: the workspace is made while the model thinks, and the first tool waits for it.
  const openOnce = async (): Promise<Workspace> => {
    opened.workspace ??= openWorkspace({ deps, writer, live, run, base, secrets, setup, startup, signal: control.signal }).catch(error => {
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
  const begin = async () => run.status !== 'starting' || writer.move({ from: ['starting'], to: 'running', phase: 'agent' })
  const [told, records, started] = await Promise.all([
    readInstructions(deps, writer, run.user_id, base, run.turn === 1),
    readJournal(writer),
    files_first || begin(),
  ])
  if (!started) return endOfControl(control)
  const conversation = rebuildConversation(records, run.turn)
  const late = isOfChecks(run, records)
  if (late) conversation.ending = LOOKED_AGAIN
  if (run.recovering_since !== null) await recordRecovery(writer, run, conversation)
  const { open_reservation, noticed } = conversation
  if (open_reservation !== null) await chargeLostCall(writer, open_reservation)
  conversation.messages.push(...(await closeOpenCalls(writer, conversation.open_calls)))

  // What the conversation says of files is no use where they are not the ones that it means.
  if (files_first) {
    const { restored, setup_failures } = await openOnce()
    if (!(await begin())) return endOfControl(control)
    // An answer about files that are lost is no answer: the agent looks again. One about files that are there is left as it is.
    if (restored !== null && !restored.up_to_date) conversation.ending = null
    if (conversation.ending === null) conversation.messages.push(...(await addRestoredMessage(writer, restored)))
    if (conversation.ending === null) conversation.messages.push(...(await addSetupFailuresMessage(writer, setup_failures)))
  }

  const said = planAgentInstructions({
    repository: base?.repository.full_name ?? null,
    branch: base?.branch ?? null,
    base_ref: base?.ref ?? null,
    secrets: Object.keys(secrets.environment),
    set_up_by: setup?.commands ?? [],
    set_up: setup === null ? [] : await leftOutBySetup(deps, run),
    reachable: await listReachable(deps, writer, base?.repository.id ?? null),
    ...told,
  })
  const instructions = await secrets.redactor.text(said)
  const estimate = createTokenEstimate(instructions, toolSpecs(tools))
  const meter = watchLimits(deps, run, { model, estimate, noticed }, beat.worked_ms, control)
  meter.childrenCost(await costOfChildren(writer))
  if (open_reservation !== null) {
    meter.charged(open_reservation)
    conversation.turn_tokens += open_reservation.input_tokens + open_reservation.output_tokens
  }
  const runAgent = (conversation: Conversation) => {
    const stop = meter.watch()
    return runLoop({
      model: observed.model(model),
      instructions,
      tools,
      conversation,
      journal: observed.journal(
        createLoopJournal({
          writer,
          live,
          model: run.model,
          onToolEnd: name => (mayChangeFiles(name) ? opened.current?.checkpoints.toolEnded() : undefined),
        }),
      ),
      meter,
      retry: { ...retryPolicy, left_ms: meter.left_ms },
      timeouts: deps.model_timeouts,
      sandbox,
      runs: relatedRuns(deps, writer, control, meter.childrenCost),
      redactor: secrets.redactor,
      tool_seconds: deps.tool_seconds,
      sandboxReady: () => opened.current !== null,
      on_model_call: () => void setImmediate(() => opened.ended || openOnce().catch(() => {})),
      signal: control.signal,
      leaving: () => control.leaving,
      stepSignal: () => control.stepSignal(),
      on_progress: () => live.progressed(),
      on_delta: delta => live.addText({ event: 'text', ...delta }),
      async on_tool(call, signal) {
        startup.reached('first_action_ms')
        if (mayChangeFiles(call.name)) await opened.current?.checkpoints.idle(signal)
        live.toolStarted(call)
      },
      on_output: liveOutput(live),
    }).finally(stop)
  }
  const checking = { deps, writer, live, setup, secrets, late, started: async (id: string | null) => (await openOnce()).alongside(id) }
  const asking = {
    model: observed.model(model),
    journal: createSideQuestionJournal(writer),
    redactor: secrets.redactor,
    timeouts: deps.model_timeouts,
  }
  const ask = deps.model_evaluations ? createAsk({ ...asking, ...meter, spent: meter.charged, signal: control.signal }) : askNobody
  // Without a base nothing is committed, pushed or proposed.
  for (let going_on = conversation, row = run, at = tool_call ? null : base; ; ) {
    const { sent_back, check_rounds: rounds } = going_on
    const follow = async (answer: string) => {
      if (at === null) return null
      const [stop, signal] = [meter.watch(), control.stepSignal()]
      return followUnlessInterrupted({ ...checking, run: row, base: at, rounds, answer, signal }).finally(stop)
    }
    const end = await endOfLoop({ ...deps, ask }, writer, row, at, sandbox, sent_back, follow, control, await runAgent(going_on))
    if (end !== 'sent_back' && end !== 'interrupted') return end
    if (!(await writer.move({ from: ['running'], to: 'running', phase: 'agent' }))) return endOfControl(control)
    // What was pushed meanwhile is what the next push builds on.
    row = (await getRun(deps.db, run.organization_id, run.id)) ?? row
    at = await prepareBase(deps, writer, row, control.signal)
    going_on = rebuildConversation(await readJournal(writer), run.turn)
    // Somebody has said something, or a limit is reached: either is looked for before the answer counts.
    if (end === 'interrupted') going_on.ending = null
  }
}
