import { AgentError, type AgentSession, type PromptPart } from '../../../acp/agent-session.ts'

/**
 * Sends a prompt and resolves as `session.prompt` does. Rejects with AgentError when the agent has neither
 * reported nor requested anything for that long: each call of the function that `on_start` receives is such
 * an activity.
 */
export async function promptWhileActive(
  session: AgentSession,
  parts: PromptPart[],
  seconds: number,
  on_start: (active: () => void) => void,
): Promise<string> {
  const idle = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => idle.reject(new AgentError(`It has neither reported nor requested anything for ${seconds} s.`)),
    seconds * 1_000,
  )
  on_start(() => timer.refresh())
  try {
    return await Promise.race([session.prompt(parts), idle.promise])
  } finally {
    clearTimeout(timer)
    on_start(() => {})
  }
}
