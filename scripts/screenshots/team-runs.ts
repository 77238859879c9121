import type { Client } from '../../src/client/sdk/client.ts'
import type { AgentRun, Body } from '../../src/client/sdk/operations.ts'
import { SAMPLE_PROMPT } from '../../src/core/repositories/sample.ts'

type People = { ada: Client; ben: Client; chloe: Client }
type Repositories = { invoice: number; storefront: number; infrastructure: number }

const playbook = (task: string, ...steps: string[]) =>
  `${task}\n\n\`\`\`playbook\n${steps.map(step => `- ${step}`).join('\n')}\n\`\`\`\n`

const longer = { max_wall_seconds: 3600 }

/** One run after the other, so that numbers of runs, pull requests and sandboxes are the same each time. */
async function ended(client: Client, input: Body<'createAgentRun'>): Promise<AgentRun> {
  return client.runs.create(input).wait()
}

/** Runs of a week in every state that a page shows. Returns their ids by name. */
export async function createRuns({ ada, ben, chloe }: People, repo: Repositories) {
  const fixed = await ended(ada, {
    prompt: SAMPLE_PROMPT,
    title: 'Fix the tax of discounted invoices',
    repo_id: repo.invoice,
    tags: ['billing', 'bug'],
  })
  const currency = await ended(ben, {
    prompt: playbook(
      'Format prices with the currency of the customer.',
      'plan: [Read the formatter, Use Intl.NumberFormat, Run the tests]',
      'run: cat src/money.js',
      "write: { path: src/money.js, content: \"export function format(cents, currency = 'USD', locale = 'en') {\\n  return new Intl.NumberFormat(locale, { style: 'currency', currency }).format(cents / 100)\\n}\\n\" }",
      "write: { path: test/money.test.js, content: \"import assert from 'node:assert/strict'\\nimport { test } from 'node:test'\\nimport { format } from '../src/money.js'\\n\\ntest('formats euros', () => {\\n  assert.equal(format(1250, 'EUR', 'en'), '€12.50')\\n})\\n\" }",
      'run: node --test',
      'answer: "Prices use `Intl.NumberFormat` with the currency and language of the customer. The tests cover dollars and euros."',
    ),
    title: 'Format prices in the currency of the customer',
    repo_id: repo.storefront,
    tags: ['shop'],
  })
  const failing_check = await ended(chloe, {
    prompt: playbook(
      'Remove an item from the cart.',
      'run: cat src/cart.js',
      'write: { path: src/remove-item.js, content: "// TODO: what if the item is not in the cart?\\nexport function removeItem(cart, sku) {\\n  return { ...cart, items: cart.items.filter(item => item.sku !== sku) }\\n}\\n" }',
      'answer: "`removeItem` returns a cart without the item. One question is left as a comment."',
      'on_checks_failed: [answer: The comment stays until somebody decides.]',
    ),
    title: 'Remove an item from the cart',
    repo_id: repo.storefront,
    tags: ['shop'],
  })
  const failed = await ended(ben, {
    prompt: playbook(
      'Check that three nodes carry the load of a sale.',
      'run: cat cluster.yaml',
      'run: "for i in 1 2 3 4; do echo \\"node-$i  cpu 41%  p99 180 ms\\"; done; echo \\"error: node-4 is not part of the cluster (nodes: 3)\\" >&2; exit 1"',
    ),
    title: 'Load test of the cluster',
    repo_id: repo.infrastructure,
  })
  const paused = await ended(ada, {
    prompt: playbook(
      'Import the orders of the old shop.',
      ...['run: ls', 'run: cat src/cart.js', 'run: cat src/money.js', 'answer: Done.'],
    ),
    title: 'Import the orders of the old shop',
    repo_id: repo.storefront,
    budget: { max_steps: 2 },
  })
  const question = await ended(chloe, {
    prompt: playbook(
      'Round prices.',
      'run: cat src/money.js',
      'ask: "Round half up, as on receipts, or half to even, as in the ledger?"',
      'answer: Rounded.',
    ),
    title: 'Round prices the same way everywhere',
    repo_id: repo.storefront,
    budget: longer,
  })
  const approval = await ended(ben, {
    prompt: playbook(
      'Test on Node 24 in CI.',
      'edit: { path: .github/workflows/ci.yml, old: "node-version: 22", new: "node-version: 24" }',
      'answer: CI tests on Node 24.',
    ),
    title: 'Test on Node 24 in CI',
    repo_id: repo.storefront,
    tags: ['ci'],
  })
  const draft = await ended(ada, {
    prompt: playbook(
      'Describe how to restore a backup.',
      'write: { path: RESTORE.md, content: "# Restore a backup\\n\\n1. Stop the shop.\\n2. Load the dump.\\n3. Start the shop.\\n" }',
      'answer: "`RESTORE.md` describes the three steps."',
    ),
    title: 'Describe how to restore a backup',
    repo_id: repo.infrastructure,
    tags: ['docs'],
  })
  const fork = await ada.runs.fork(fixed.id, { from_seq: 6, prompt: 'Only explain what is wrong.' }).wait()
  const stopped = await ben.runs.create({
    prompt: playbook('Watch the logs.', 'run: sleep 600'),
    title: 'Watch the logs of the shop',
    repo_id: repo.infrastructure,
  })
  await untilRunning(ben, stopped.id)
  await ben.runs.stop(stopped.id).wait()
  const running = await chloe.runs.create({
    prompt: playbook(
      'Find what makes the checkout page slow.',
      'plan: [Measure the checkout page, Find the slowest module, Propose a fix]',
      'run: cat src/cart.js',
      // A call ends after two minutes by default, but this run is shown as running to the end.
      'run: {run: "echo \\"measuring /checkout, 20 samples\\"; for i in 1 2 3 4 5; do echo \\"sample $i  ok\\"; done; sleep 1200", timeout: 1200}',
      'answer: Done.',
    ),
    title: 'Find what makes the checkout page slow',
    repo_id: repo.storefront,
    tags: ['performance'],
  })
  await untilRunning(chloe, running.id, 'sample 5')
  await ada.call('updateOrganization', { body: { max_concurrent_runs: 1 } })
  const queued = await ada.runs.create({
    prompt: playbook('Rename the region.', 'run: cat cluster.yaml', 'answer: Done.'),
    title: 'Move the cluster to eu-north-1',
    repo_id: repo.infrastructure,
  })
  const ids = {
    fixed,
    currency,
    failing_check,
    failed,
    paused,
    question,
    approval,
    draft,
    fork,
    stopped,
    running,
    queued,
  }
  return Object.fromEntries(Object.entries(ids).map(([name, { id }]) => [name, id])) as Record<
    keyof typeof ids,
    number
  >
}

/** Waits until a run shows a text, by default its command. */
async function untilRunning(client: Client, id: number, text = 'sleep 600'): Promise<void> {
  for await (const event of client.runs.follow(id)) if (JSON.stringify(event).includes(text)) return
}
