import { afterAll, expect } from 'vitest'
import type { z } from 'zod'
import { type ApiResponse, startApp } from '../../start-app.ts'
import { models } from '../runs/public-models.ts'
import { type Caller, withProfile } from './with-profile.ts'

/**
 * The service, for all tests of a file, and the clients of either profile with the status names that they
 * receive.
 */
export async function startClients() {
  const app = await startApp()
  afterAll(() => app[Symbol.asyncDispose]())
  const [codegen, standard] = [await withProfile(app, 'codegen'), await withProfile(app, 'standard')]
  const profiles = [
    {
      profile: 'codegen',
      client: codegen,
      active: 'ACTIVE',
      complete: 'COMPLETE',
      cancelled: 'CANCELLED',
      waiting: 'PAUSED',
    },
    {
      profile: 'standard',
      client: standard,
      active: 'queued',
      complete: 'completed',
      cancelled: 'cancelled',
      waiting: 'waiting',
    },
  ] as const
  return { app, codegen, standard, profiles, org: `/v1/organizations/${app.org_id}` }
}

type Model = keyof typeof models
/** A 200 with JSON that matches a model of the public document. */
export function expectModel<M extends Model>(
  model: M,
  { status, headers, body }: ApiResponse,
): z.output<(typeof models)[M]> {
  expect({ status, body }).toMatchObject({ status: 200 })
  expect(headers.get('content-type')).toMatch(/^application\/json\s*(;|$)/)
  return models[model].parse(body) as z.output<(typeof models)[M]>
}
/** An error that every client can read, and whose type generated clients recognize. */
export function expectError(
  { status, headers, body }: ApiResponse,
  wanted: number,
  message: string | RegExp,
) {
  expect({ status, body }).toMatchObject({ status: wanted })
  expect(headers.get('content-type')).toMatch(/^application\/(json|[\w!#$&.+\-^_]+\+json)\s*(;|$)/i)
  const error = models.ErrorResponse.parse(body)
  expect(error).toMatchObject({
    message: expect.stringMatching(message),
    status_code: wanted,
    detail: error.message,
  })
}
/** A prompt of a run that waits for a person. */
export const waits = '```playbook\n- ask: Which one?\n- answer: That one.\n```'

type Request = { method?: string; path: string; headers?: Record<string, string>; body?: string | FormData }
export async function send(
  client: Caller,
  { method = 'GET', path, headers = {}, body }: Request,
): Promise<ApiResponse> {
  const response = await fetch(client.base_url + path, {
    method,
    headers: { authorization: `Bearer ${client.token}`, ...headers },
    ...(body !== undefined && { body }),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}
