import type { LimitReached } from '../../../core/runs/budget/limits.ts'
import type { ModelError } from '../../../model/port.ts'
import { errorEntry } from '../../../trace/entry.ts'
import { GatewayJournal } from './gateway-journal.ts'
import { createGatewayMeter } from './gateway-meter.ts'
import { interrupt, mustStop, refusalOf, type State } from './program-state.ts'
import type { ProgramTurn } from './program-turn.ts'

/** Of the types of tools, what the trace shows. */
const MAX_NAMES = 500

/** Connects the gateway of the program with the limits, the journal and the live state of the turn. */
export function connectGateway(state: State): void {
  const { turn, meter, spending } = state
  const journal = new GatewayJournal(turn.writer, turn.run.model)
  const onLimit = (limit: LimitReached) => interrupt(state, () => (state.limit ??= limit))
  const onCall = (failure: ModelError | null, has_tools: boolean) => {
    // Programs also call the model without tools, for a title: such a call does not decide about the work of
    // the others.
    if (has_tools) state.works_with_tools = true
    if (has_tools || !state.works_with_tools) state.last_failure = failure
  }
  turn.program.connect(
    createGatewayMeter({
      model: turn.model,
      meter,
      journal,
      spending,
      onLimit,
      onCall,
      refusal() {
        state.active()
        if (mustStop(turn)) state.cancel()
        return refusalOf(state)
      },
      onDropped: reportDropped(turn),
      onProgress() {
        state.active()
        turn.live.progressed()
      },
      redact: text => turn.secrets.redactor.text(text),
    }),
    state.served.respond,
  )
}

/** Shows in the trace which tools of its provider the agent does not have, once in a turn. */
function reportDropped({ writer, secrets }: ProgramTurn): (types: readonly string[]) => Promise<void> {
  let reported = false
  return async types => {
    if (reported) return
    reported = true
    const names = await secrets.redactor.text(types.join(', '))
    const message = `Tools that run at the provider of the model are not available, so calls do not offer them: ${names.slice(0, MAX_NAMES)}`
    await writer.append({
      entries: [errorEntry({ code: 'provider_tools_dropped', message, retryable: false, phase: 'agent' })],
    })
  }
}
