/**
 * The types of all operations. In the built client this module is replaced by one without zod, written from
 * the OpenAPI document by `scripts/client-types.ts`; a test holds the two against each other.
 */

export type { Body, Params, Query, Result } from '../../contract/calls.ts'
export type { EndpointName as OperationName } from '../../contract/endpoints.ts'
export type { FieldError, Problem } from '../../contract/error-codes.ts'
export type { DryRun } from '../../contract/runs/dry-run.ts'
export type { LogEntry } from '../../contract/runs/logs.ts'
export type { AgentRun } from '../../contract/runs/runs.ts'
