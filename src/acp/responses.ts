import { methods, PROTOCOL_VERSION } from '@agentclientprotocol/sdk'
import { Quote } from '../core/secrets/quote.ts'
import { AgentProtocolError } from './messages.ts'

type Json = Record<string, unknown>

/**
 * What an agent offers. `continue_method`: continues a session, preferably without repeating what it
 * contains; null: nothing does.
 */
type OfferedSession = {
  agent: string
  continue_method: typeof methods.agent.session.resume | typeof methods.agent.session.load | null
  accepts_servers: boolean
  images: boolean
}

/**
 * Reads the response to `initialize`; the SDK checks no response. What has another form than in the protocol
 * counts as not offered. Throws AgentProtocolError for another version of the protocol.
 */
export function readInitialized(response: unknown): OfferedSession {
  const { protocolVersion: version, agentInfo, agentCapabilities } = jsonOf(response)
  if (version !== PROTOCOL_VERSION)
    throw new AgentProtocolError(
      `This service speaks version ${PROTOCOL_VERSION} of the Agent Client Protocol, and the agent version`,
      quoted(version),
    )
  const { loadSession, sessionCapabilities, mcpCapabilities, promptCapabilities } = jsonOf(agentCapabilities)
  const { name, version: of_agent } = jsonOf(agentInfo)
  const load = loadSession === true ? methods.agent.session.load : null
  return {
    agent: `${isShort(name) ? name : 'agent'} ${isShort(of_agent) ? of_agent : ''}`.trim(),
    continue_method: isObject(jsonOf(sessionCapabilities).resume) ? methods.agent.session.resume : load,
    accepts_servers: jsonOf(mcpCapabilities).http === true,
    images: jsonOf(promptCapabilities).image === true,
  }
}

/** Returns a text of a response that must have it. Throws AgentProtocolError without it. */
export function requireText(method: string, response: unknown, field: string): string {
  const text = jsonOf(response)[field]
  if (typeof text === 'string' && text !== '') return text
  throw new AgentProtocolError(`Its response to ${method} has no ${field}:`, quoted(response))
}

const MAX_SHOWN_CHARACTERS = 200
const MAX_NAME_CHARACTERS = 100
const quoted = (value: unknown) => new Quote(JSON.stringify(value) ?? 'none', MAX_SHOWN_CHARACTERS)
const isShort = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_NAME_CHARACTERS
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null
const jsonOf = (value: unknown): Json => (isObject(value) ? value : {})
