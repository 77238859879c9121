import type { LimitReached } from '../../../core/runs/budget/budget-check.ts'
import type { ModelError } from '../../../model/port.ts'
import { GatewayJournal } from './gateway-journal.ts'
import { createGatewayMeter } from './gateway-meter.ts'
import { interrupt, mustStop, refusalOf, type State } from './program-state.ts'

/** Connects the gateway of the program with the limits, the journal and the live state of the turn. */
export function connectGateway(state: State): void {
  const { turn, meter, estimate, spending } = state
  const journal = new GatewayJournal(turn.writer, turn.run.model)
  const onLimit = (limit: LimitReached) => interrupt(state, () => (state.limit ??= limit))
  const onCall = (failure: ModelError | null, has_tools: boolean) => {
    // Programs also call the model without tools, for a title: such a call does not decide about the work of the others.
    if (has_tools) state.works_with_tools = true
    if (has_tools || !state.works_with_tools) state.last_failure = failure
  }
  turn.program.connect(
    createGatewayMeter({
      ...{ model: turn.model, meter, journal, estimate, spending, onLimit, onCall },
      refusal() {
        state.active()
        if (mustStop(turn)) state.cancel()
        return refusalOf(state)
      },
      onProgress() {
        state.active()
        turn.live.progressed()
      },
      redact: text => turn.secrets.redactor.text(text),
    }),
    state.served.respond,
  )
}
