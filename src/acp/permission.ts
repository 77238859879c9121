import { RequestError, type RequestPermissionResponse } from '@agentclientprotocol/sdk'
import type { Message } from './messages.ts'

/** `wait`: nobody has decided yet, and the prompt ends. */
export type PermissionDecision = 'allow' | 'deny' | 'wait'

type PermissionOption = { kind: string; optionId: string }
/** `call`: the tool call as the agent sent it, like an update. */
type PermissionRequest = { options: PermissionOption[]; call: Message }

/** Agents offer three to five. */
const MAX_OPTIONS = 100

/** The options of a decision, the narrowest first: a permission holds for one call. */
const kinds: Record<PermissionDecision, readonly string[]> = {
  allow: ['allow_once', 'allow_always'],
  deny: ['reject_once', 'reject_always'],
  wait: [],
}

/**
 * Reads a request for a permission, instead of the schema of the SDK: that describes each wrong value of a
 * list, and the description of a list of 200,000 occupies the process for ten seconds. Throws RequestError
 * for a request without a call and options.
 */
export function readPermissionRequest(params: unknown): PermissionRequest {
  const { toolCall, options } = Object(params)
  if (!isObject(toolCall) || typeof toolCall.toolCallId !== 'string')
    throw invalid('toolCall must be an object with toolCallId')
  if (!Array.isArray(options)) throw invalid('options must be a list')
  if (options.length > MAX_OPTIONS) throw invalid(`options must have at most ${MAX_OPTIONS} items`)
  if (!options.every(isOption)) throw invalid('each of options must have kind and optionId')
  return { options, call: toolCall }
}

/**
 * Returns the response to a request for a permission. An agent that offers no such option gets no permission.
 */
export function permissionResponse(
  options: readonly PermissionOption[],
  decision: PermissionDecision,
): RequestPermissionResponse {
  const chosen = kinds[decision]
    .map(wanted => options.find(({ kind }) => kind === wanted))
    .find(option => option !== undefined)
  return {
    outcome:
      chosen === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: chosen.optionId },
  }
}

const invalid = (message: string) => RequestError.invalidParams(undefined, message)
const isObject = (value: unknown): value is Message =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isOption = (value: unknown): value is PermissionOption =>
  isObject(value) && typeof value.kind === 'string' && typeof value.optionId === 'string'
