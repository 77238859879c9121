import type { FakeReply, FakeScript, SeenRequest } from '../../model/fake-server.ts'

/**
 * The script of several agents, chosen by a word of their prompt; the parent is tried first because its calls
 * contain the prompts of its children.
 */
export type Plays = Record<string, (step: number, request: SeenRequest) => FakeReply | Promise<FakeReply>>

/** The conversation of a request, in either protocol. */
export const textOfRequest = ({ body }: Pick<SeenRequest, 'body'>) =>
  JSON.stringify(body.messages ?? body.input)

/** `step`: how many outcomes of tools the agent has been given. */
export const playedBy =
  (plays: Plays): FakeScript =>
  request => {
    const reported = textOfRequest(request)
    const play = Object.entries(plays).find(([word]) => reported.includes(word))?.[1]
    return (
      play?.(reported.match(/"role":"tool"|"type":"function_call_output"/g)?.length ?? 0, request) ?? {
        text: 'Nobody knows me.',
      }
    )
  }

export const startRun = (prompt: string, more: Record<string, unknown> = {}) => ({
  name: 'start_run',
  arguments: { prompt, ...more },
})
export const getRun = (more: Record<string, unknown> = {}) => ({ name: 'get_run', arguments: more })
