import { expect, test } from 'vitest'
import type { CommandRun, Plan, SetupRunner } from './plan.ts'
import type { Proof, Proposal, Step } from './proposal.ts'
import { findSetup } from './search.ts'

const step = (command: string, optional = false): Step => ({
  command,
  from: 'package.json',
  why: 'because',
  optional,
})
const proof = (kind: Proof['kind'], command: string): Proof => ({
  command,
  from: 'package.json',
  why: 'because',
  kind,
})
const node = (commands: Step[], ...proofs: Proof[]): Proposal => ({
  ecosystems: ['node'],
  commands,
  to_prove: [{ ecosystem: 'node', folder: '', proofs }],
  tools: [],
  lockfiles: [],
  notes: [],
  offline: null,
})

/** A runner where the listed commands fail with the given output, and others pass. */
function lab(
  failing: Record<string, string>,
  suggested: Plan | null = null,
): SetupRunner & { tried: string[] } {
  const tried: string[] = []
  const run = (command: string): CommandRun => {
    tried.push(command)
    const output = failing[command]
    return {
      ok: output === undefined,
      output: output ?? '',
      exit_code: output === undefined ? 0 : 1,
      timed_out: false,
      seq: tried.length,
      ms: 1,
    }
  }
  return {
    tried,
    async prepare({ commands }) {
      const ran: CommandRun[] = []
      for (const { command } of commands) {
        ran.push(run(command))
        if (ran.at(-1)?.ok === false) return { ran, prepared: null }
      }
      return {
        ran,
        prepared: { prove: async ({ command }) => run(command), async [Symbol.asyncDispose]() {} },
      }
    },
    repaired: async () => tried.length,
    over: () => false,
    suggest: async () => (suggested === null ? null : { id: 'model', why: 'it knows', plan: suggested }),
  }
}

test('the best proof that passes is sufficient, and a test that fails by itself is reported', async () => {
  const { verified, detail, evidence } = await findSetup(
    node([step('npm ci')], proof('test', 'npm test'), proof('build', 'npm run build')),
    [],
    lab({ 'npm test': '1 failed' }),
  )
  expect([verified, detail]).toEqual([
    true,
    'Proved by `npm run build`; `npm test` ran and failed; the setup is not the cause.',
  ])
  expect(evidence.map(({ what, ok }) => [what, ok])).toEqual([
    ['command', true],
    ['proof', false],
    ['proof', true],
  ])
})

test('a run without tests proves nothing; one where most tests pass does if no proof passes completely', async () => {
  const none = { 'python3 -m unittest': 'Ran 0 tests in 0.000s\n\nOK\n' }
  const passing = (wanted: Proposal, outputs: Record<string, string>) =>
    findSetup(wanted, [], {
      ...lab({}),
      prepare: async () => {
        const prove = async ({ command }: Proof): Promise<CommandRun> => {
          const output = outputs[command] ?? ''
          const ok = outputs[command] === undefined || /OK$/m.test(output)
          return { ok, output, exit_code: ok ? 0 : 1, timed_out: false, seq: 1, ms: 1 }
        }
        return { ran: [], prepared: { prove, async [Symbol.asyncDispose]() {} } }
      },
    })
  const python = node([], proof('test', 'python3 -m unittest'), proof('smoke', "python3 -c 'import a'"))
  const { verified, detail, evidence } = await passing(python, none)
  expect([verified, detail]).toEqual([
    true,
    "Proved by `python3 -c 'import a'`; `python3 -m unittest` found no tests.",
  ])
  expect(evidence[0]).toMatchObject({ ok: false, text: 'It found no tests.' })
  expect(await passing(node([], proof('test', 'python3 -m unittest')), none)).toMatchObject({
    verified: false,
    reason: 'proof_failed',
  })

  const red = node([], proof('test', 'make test'))
  expect(await passing(red, { 'make test': '=== 1 failed, 7 passed in 0.1s ===' })).toMatchObject({
    verified: true,
    detail: 'Proved by `make test`, of which 7 of 8 tests pass; the others fail by themselves.',
  })
  const missing = "ModuleNotFoundError: No module named 'sqlalchemy'\n=== 1 failed, 7 passed in 0.1s ==="
  expect(await passing(red, { 'make test': missing })).toMatchObject({ verified: true, partial: true })
  expect(await passing(red, { 'make test': '=== 7 failed, 1 passed in 0.1s ===' })).toMatchObject({
    verified: false,
  })
})

test('a successful import is not proof where the tests lack what the setup left out', async () => {
  const wanted = node(
    [step('npm ci --ignore-scripts')],
    proof('test', 'npm test'),
    proof('smoke', 'node -e 1'),
  )
  const { verified, reason } = await findSetup(wanted, [], lab({ 'npm test': "Cannot find module 'mocha'" }))
  expect([verified, reason]).toEqual([false, 'proof_failed'])
  expect(
    (
      await findSetup(
        node([step('npm ci')], ...(wanted.to_prove[0]?.proofs ?? [])),
        [],
        lab({ 'npm test': "Cannot find module 'mocha'" }),
      )
    ).verified,
  ).toBe(true)
})

test('a person decides about omitted dependencies if only an import proves the rest', async () => {
  const scripts = { 'npm ci': 'npm error command failed', 'npm test': 'Error: No test files found: "test"' }
  const proofs = [proof('test', 'npm test'), proof('smoke', 'node -e 1')]
  const found = await findSetup(node([step('npm ci')], ...proofs), [], lab(scripts))
  expect(found).toMatchObject({
    verified: true,
    partial: true,
    detail: expect.stringMatching(/a person has to accept it\.$/),
  })
  expect(
    await findSetup(node([step('npm ci')], ...proofs), [], lab({ 'npm test': 'AssertionError' })),
  ).toMatchObject({ partial: false })
  expect(
    await findSetup(node([step('npm ci')], ...proofs), [], lab({ 'npm ci': scripts['npm ci'] })),
  ).toMatchObject({ partial: false })
})

test('failing commands are changed by one rule after another; a change that did not help is reverted', async () => {
  const peers = lab({ 'npm ci': 'ERESOLVE', 'npm ci --legacy-peer-deps': 'npm error command failed' })
  const { verified, plan, detail } = await findSetup(
    node([step('npm ci')], proof('test', 'npm test')),
    [],
    peers,
  )
  expect(detail).toBe(
    'Proved by `npm test`. Changed on the way: peer dependencies contradict each other; a script of a package failed.',
  )
  expect([verified, plan.commands.map(({ command }) => command)]).toEqual([
    true,
    ['npm ci --legacy-peer-deps --ignore-scripts'],
  ])
  const absent = 'No matching version found for deep@^9.0.0.'
  const install = 'npm install'
  const without = "npm pkg delete 'devDependencies[deep]' && npm install && git checkout -- package.json"
  const given_up = await findSetup(
    node([step(install)], proof('test', 'npm test')),
    [],
    lab({ [install]: absent, [without]: absent }),
  )
  expect(given_up).toMatchObject({
    verified: false,
    reason: 'registry_unreachable',
    plan: { commands: [{ command: install }] },
  })
})

test('tests that lack what the registry does not have are reported as such, not as a missing program of the machine', async () => {
  const without = "npm pkg delete 'devDependencies[evalmd]' && npm install && git checkout -- package.json"
  const absent = lab({
    'npm install': 'No matching version found for evalmd@^0.1.0.',
    'npm test': 'sh: 1: evalmd: not found',
  })
  const proposal = node([step('npm install')], proof('test', 'npm test'))
  expect(await findSetup(proposal, [], absent)).toMatchObject({
    verified: false,
    reason: 'registry_unreachable',
    detail: 'npm test needs what the registry does not have: evalmd.',
    plan: { commands: [{ command: without }] },
  })
})

test('the failing part of a command is isolated, and a step that is only mentioned is removed', async () => {
  const whole = 'true && ./missing.sh'
  const { verified, plan, evidence } = await findSetup(
    node([step(whole, true)], proof('test', 'npm test')),
    [],
    lab({ [whole]: 'no', './missing.sh': 'no' }),
  )
  expect([verified, plan.commands]).toEqual([true, []])
  expect(evidence.find(({ what }) => what === 'repair')?.command).toBe('./missing.sh')
})

test('without a reachable registry the programs of the machine are tried, and where that fails the reason stays', async () => {
  const pip = 'pip install .'
  const offline = {
    commands: [],
    to_prove: [{ ecosystem: 'python', folder: '', proofs: [proof('test', 'python3 -m pytest')] }],
  }
  const proposal = { ...node([step(pip)], proof('test', 'pytest')), offline }
  const away = { [pip]: 'Failed to establish a new connection' }
  expect(await findSetup(proposal, [], lab(away))).toMatchObject({
    verified: true,
    partial: false,
    plan: { commands: [] },
  })
  const loads = {
    commands: [],
    to_prove: [{ ecosystem: 'python', folder: '', proofs: [proof('smoke', "python3 -c 'import a'")] }],
  }
  expect(await findSetup({ ...proposal, offline: loads }, [], lab(away))).toMatchObject({
    verified: true,
    partial: true,
  })
  const lost = await findSetup(
    proposal,
    [],
    lab({ ...away, 'python3 -m pytest': "ModuleNotFoundError: No module named 'a'" }),
  )
  expect(lost).toMatchObject({
    verified: false,
    reason: 'registry_unreachable',
    plan: { commands: [{ command: pip }] },
  })
})

test('attempts end, a missing program is reported before any, and a model is called when the rules are exhausted', async () => {
  const hopeless = Object.fromEntries(['npm ci', 'npm test'].map(command => [command, 'no idea']))
  const proposal = node([step('npm ci')], proof('test', 'npm test'))
  expect(await findSetup(proposal, [], lab(hopeless))).toMatchObject({
    verified: false,
    reason: 'command_failed',
  })
  const tool = { binary: 'go', wanted: null, from: 'go.mod', package: 'golang-go' }
  const nowhere = lab({})
  expect(await findSetup(proposal, [tool], nowhere)).toMatchObject({
    reason: 'toolchain_missing',
    detail: expect.stringContaining('golang-go'),
  })
  expect(nowhere.tried).toEqual([])
  const plan: Plan = { commands: [step('make deps')], to_prove: proposal.to_prove, by_model: true }
  const responded = await findSetup(proposal, [], lab({ 'npm ci': 'no idea' }, plan))
  expect(responded).toMatchObject({
    verified: true,
    plan: { by_model: true, commands: [{ command: 'make deps' }] },
  })
  expect(await findSetup(node([]), [], lab({}))).toMatchObject({ verified: false, reason: 'nothing_found' })
  const unread = { ...node([]), notes: ['package.json cannot be read.'] }
  expect((await findSetup(unread, [], lab({}))).detail).toMatch(/^package\.json cannot be read\. Nothing /)
})

test('a test that fails by itself is reported with its own output', async () => {
  const { detail } = await findSetup(
    node([], proof('test', 'npm test'), proof('smoke', 'node -e 1')),
    [],
    lab({ 'npm test': 'No test files found' }),
  )
  expect(detail).toBe(
    'Proved by `node -e 1`; `npm test` ran and failed (the commit has no files of such tests); the setup is not the cause.',
  )
})
