import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Models } from '../../../src/contract/organizations/organizations.ts'
import { type App, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { expectProblem } from '../expect-problem.ts'

let app: App
let other: Tenant
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
})
afterAll(() => app[Symbol.asyncDispose]())

describe('GET …/models', () => {
  test('200: the models that a run can name, by provider, with the default among them', async () => {
    const { status, body } = await app.call('GET', `/v1/organizations/${app.org_id}/models`)
    expect(status).toBe(200)
    const { providers, default_model } = Models.strict().parse(body)
    const values = providers.flatMap(provider => provider.models.map(model => model.value))
    expect(values).toContain(default_model)
    expect(default_model).toBe('scripted/playbook')
    expect(new Set(values).size).toBe(values.length)
  })

  test('403: another organization', async () => void expectProblem(await app.call('GET', `/v1/organizations/${other.org_id}/models`), 403))
})
