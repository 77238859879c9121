import type { Endpoint } from '../../contract/endpoint.ts'
import { type EndpointName, endpoints } from '../../contract/endpoints.ts'
import { type ModelProvider, model_providers as providers } from '../../contract/model-settings.ts'
import { MessageType } from '../../contract/runs/logs.ts'
import { RunStatus } from '../../contract/runs/runs.ts'

/** `keyed`: takes an `Idempotency-Key`. */
type Route = { method: Endpoint['method']; path: string; access: Endpoint['access']; keyed?: true }

/**
 * What a client needs of the contract at run time. `scripts/build-client.ts` replaces this module by its
 * values, so that the built client carries neither zod nor a schema: exports must be plain JSON.
 */
export const routes = Object.fromEntries(
  Object.entries<Endpoint>(endpoints).map(([name, { method, path, access, idempotent }]) => [
    name,
    { method, path, access, ...(idempotent && { keyed: true }) },
  ]),
) as Record<EndpointName, Route>

export const run_statuses: string[] = RunStatus.options

export const message_types: string[] = MessageType.options

export const model_providers: ModelProvider[] = [...providers]
