import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Models, RepositoryPage } from '../../src/contract/organizations.ts'
import { insertRepository } from '../../src/store/repositories.ts'
import { type App, startApp } from '../start-app.ts'
import { expectProblem } from './expect-problem.ts'
import { addTenant, type Tenant } from './second-organization.ts'

let app: App
let other: Tenant
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0', AGENTRUN_INIT_ORG: 'Acme' })
  other = await addTenant(app)
})
afterAll(() => app[Symbol.asyncDispose]())

describe('GET …/repos', () => {
  const list = (query = '', org_id = app.org_id) => app.call('GET', `/v1/organizations/${org_id}/repos${query}`)

  test('200: the sample of a first start is the one repository', async () => {
    const { body } = await list()
    expect(RepositoryPage.strict().parse(body)).toMatchObject({ total: 1, page: 1, size: 100, pages: 1 })
    expect(body.items[0]).toMatchObject({
      ...{ id: app.repo_id, organization_id: app.org_id, name: 'invoice', full_name: 'sample/invoice', github_id: '', archived: false },
      ...{ setup_status: 'NOT_SETUP', sample: true, is_default: true },
    })
  })

  test('200: oldest first, page by page, and never those of another organization', async () => {
    const added: number[] = []
    for (let i = 0; i < 4; i++) {
      const repository = {
        name: `r${i}`,
        full_name: `acme/r${i}`,
        url: `https://git.example/r${i}.git`,
        kind: 'https',
        description: 'd',
        sample: false,
      } as const
      added.push((await insertRepository(app.db, { ...repository, organization_id: app.org_id })).id)
    }
    const { body } = await list()
    RepositoryPage.strict().parse(body)
    expect(body.items.map((item: { id: number }) => item.id)).toEqual([app.repo_id, ...added])
    expect(body.items.filter((item: { is_default: boolean }) => item.is_default)).toEqual([])
    expect((await list('?page=3&size=2')).body).toMatchObject({ items: [{ id: added[3] }], total: 5, page: 3, size: 2, pages: 3 })
    expect(JSON.stringify(body)).not.toContain('Other')
  })

  test('403: another organization', async () => void expectProblem(await list('', other.org_id), 403))
})

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
