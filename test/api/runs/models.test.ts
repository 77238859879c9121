import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Agents, Models } from '../../../src/contract/organizations/organizations.ts'
import { type App, startApp } from '../../start-app.ts'
import { testFolder } from '../../temporary-folder.ts'
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

  test('403: another organization', async () =>
    void expectProblem(await app.call('GET', `/v1/organizations/${other.org_id}/models`), 403))
})

describe('GET …/agents', () => {
  test('200: the built-in agent, and those that the operator has registered', async () => {
    const folder = testFolder()
    mkdirSync(join(folder, 'node_modules/opencode-ai'), { recursive: true })
    writeFileSync(join(folder, 'node_modules/opencode-ai/package.json'), '{"version": "1.2.3"}')
    const agents = {
      opencode: { folder, permissions: 'ask' },
      codex: { folder },
      my_agent: { command: 'exec my-agent', apis: ['anthropic-messages'], label: 'My agent' },
    }
    await using own = await startApp({
      AGENTRUN_WORKER_CONCURRENCY: '0',
      AGENTRUN_AGENTS: JSON.stringify(agents),
    })
    const { status, body } = await own.call('GET', `/v1/organizations/${own.org_id}/agents`)
    expect(status).toBe(200)
    expect(Agents.strict().parse(body)).toEqual({
      agents: [
        {
          agent_type: 'built_in',
          label: 'Built-in',
          apis: null,
          version: null,
          tested_version: null,
          permissions: null,
        },
        {
          agent_type: 'opencode',
          label: 'OpenCode',
          apis: expect.arrayContaining(['openai-chat']),
          version: '1.2.3',
          tested_version: expect.any(String),
          permissions: 'ask',
        },
        {
          agent_type: 'codex',
          label: 'Codex',
          apis: ['openai-responses'],
          version: null,
          tested_version: expect.any(String),
          permissions: 'allow',
        },
        {
          agent_type: 'my_agent',
          label: 'My agent',
          apis: ['anthropic-messages'],
          version: null,
          tested_version: null,
          permissions: 'allow',
        },
      ],
      default_agent: 'built_in',
    })
  })

  test('403: another organization', async () =>
    void expectProblem(await app.call('GET', `/v1/organizations/${other.org_id}/agents`), 403))
})
