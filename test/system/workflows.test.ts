import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { temporaryFolder } from '../temporary-folder.ts'
import { boot, root } from './small-clone.ts'

type Step = {
  id?: string
  uses?: string
  run?: string
  with?: { file?: string; tags?: string; 'fetch-depth'?: number }
}
type Workflow = {
  permissions: Record<string, string>
  jobs: Record<string, { needs?: string | string[]; permissions?: Record<string, string>; steps: Step[] }>
}

const folder = join(root, '.github/workflows')
const workflows = readdirSync(folder).map(name => ({
  name,
  workflow: parse(readFileSync(join(folder, name), 'utf8')) as Workflow,
}))
const jobs = workflows.flatMap(({ name, workflow }) =>
  Object.entries(workflow.jobs).map(([job, content]) => ({ name: `${name} ${job}`, workflow, ...content })),
)
const steps = jobs.flatMap(job => job.steps.map(step => ({ job: job.name, ...step })))

test('workflows read the repository and nothing else, unless a job names what it writes', () => {
  expect(workflows.map(({ workflow }) => workflow.permissions)).toEqual(
    workflows.map(() => ({ contents: 'read' })),
  )
})

test('every job that is waited for exists, and every used action has a version', () => {
  for (const { workflow, needs = [] } of jobs)
    expect(Object.keys(workflow.jobs)).toEqual(expect.arrayContaining([needs].flat()))
  const uses = steps.flatMap(({ uses }) => (uses === undefined ? [] : [uses]))
  expect(uses.filter(one => !/^[\w-]+\/[\w-]+@(v\d+|release\/v\d+)$/.test(one))).toEqual([])
})

test('every script and file of the repository that a step names exists', () => {
  const commands = steps.map(({ run = '' }) => run).join('\n')
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const launched = [...commands.matchAll(/node boot\.cjs (\S+)/g)].map(([, name = '']) => name)
  const npm_scripts = [...commands.matchAll(/npm run (\S+)/g)].map(([, name = '']) => name)
  expect(launched.sort()).toEqual(['client', 'server'])
  expect(launched.filter(name => boot.commands[name] === undefined)).toEqual([])
  expect(npm_scripts.filter(name => !(name in scripts))).toEqual([])
  const files = [
    ...[...commands.matchAll(/(?:^|\s)(\.ci\/run|clients\/[\w-]+)/g)].map(([, path = '']) => path),
    ...steps.flatMap(step => step.with?.file ?? []),
  ]
  expect(files.length).toBeGreaterThan(3)
  expect(files.filter(path => !existsSync(join(root, path)))).toEqual([])
})

test('packages are published with provenance, by jobs that may prove their identity and that wait for all tests', () => {
  const publishing = jobs.filter(job =>
    job.steps.some(
      ({ run, uses }) =>
        run?.includes('npm publish') || uses?.startsWith('pypa/') || uses?.startsWith('docker/build-push'),
    ),
  )
  expect(publishing.map(({ name }) => name)).toEqual([
    'release.yml npm',
    'release.yml pypi',
    'release.yml image',
  ])
  for (const { needs, permissions } of publishing)
    expect({ needs, id: permissions?.['id-token'] }).toEqual({ needs: 'build', id: 'write' })
  expect(steps.find(({ run }) => run?.includes('npm publish'))?.run).toContain('--provenance')
  expect(steps.filter(({ job }) => job === 'release.yml build').map(({ run }) => run)).toContainEqual(
    expect.stringContaining('.ci/run'),
  )
})

test('the image that a release publishes has the tag that the chart uses by default, and a name that registries accept', () => {
  using folder = temporaryFolder()
  const output = join(folder.path, 'output')
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const env = { GITHUB_OUTPUT: output, GITHUB_REPOSITORY: 'Example/Agentrun', GITHUB_REF_NAME: `v${version}` }
  execFileSync('bash', ['--norc', '-ec', steps.find(({ id }) => id === 'image')?.run ?? ''], { env })
  const { appVersion } = parse(readFileSync(join(root, 'deploy/chart/Chart.yaml'), 'utf8'))
  expect(readFileSync(output, 'utf8')).toBe(`name=ghcr.io/example/agentrun:${appVersion}\n`)
  expect(steps.find(({ uses }) => uses?.startsWith('docker/build-push'))?.with?.tags).toMatch(
    /^\$\{\{ steps\.image\.outputs\.name \}\}$/,
  )
})

test('jobs that run all tests have the history, without which upgrades are not tested', () => {
  const testing = jobs.filter(job => job.steps.some(({ run }) => run?.includes('.ci/run')))
  expect(testing.map(({ name }) => name)).toEqual(['ci.yml tests', 'release.yml build'])
  for (const { name, steps } of testing)
    expect({
      name,
      depth: steps.find(({ uses }) => uses?.startsWith('actions/checkout@'))?.with?.['fetch-depth'],
    }).toEqual({
      name,
      depth: 0,
    })
})
