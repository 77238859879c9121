/**
 * The sample repository of the first start: small enough to read in a minute, with one test that fails for a
 * real reason.
 */
export const SAMPLE_FILES: Record<string, string> = {
  'README.md': `# Invoice

Adds up an invoice: lines, discount, tax. Run the tests with \`node --test\`.

One of them fails. That is on purpose: it is the first task for an agent.
`,
  'AGENTS.md': `- Tests: \`node --test\`. All must pass before you finish.
- Amounts are whole cents. Never use fractions of a cent.
`,
  'package.json': `{
  "name": "invoice",
  "version": "1.0.0",
  "type": "module",
  "license": "Apache-2.0",
  "scripts": { "test": "node --test" }
}
`,
  'src/invoice.js': `// Amounts are whole cents.

export function subtotal(lines) {
  return lines.reduce((sum, line) => sum + line.quantity * line.unit_cents, 0)
}

export function discount(cents, percent) {
  return Math.round((cents * percent) / 100)
}

export function total(lines, { discount_percent = 0, tax_percent = 0 } = {}) {
  const net = subtotal(lines)
  const tax = Math.round((net * tax_percent) / 100)
  return net - discount(net, discount_percent) + tax
}
`,
  'test/invoice.test.js': `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { subtotal, total } from '../src/invoice.js'

const lines = [
  { quantity: 2, unit_cents: 1250 },
  { quantity: 1, unit_cents: 499 },
]

test('adds up the lines', () => {
  assert.equal(subtotal(lines), 2999)
})

test('adds tax', () => {
  assert.equal(total(lines, { tax_percent: 10 }), 3299)
})

test('taxes what is left after the discount', () => {
  assert.equal(total([{ quantity: 1, unit_cents: 10000 }], { discount_percent: 50, tax_percent: 20 }), 6000)
})
`,
}

/** The prompt that the first start suggests for it: a playbook, so that it works without a model. */
export const SAMPLE_PROMPT = `Fix the failing test: tax must be taken from what is left after the discount.

\`\`\`playbook
- thought: First see what fails.
- plan:
    - Run the tests and read the failure
    - Tax the discounted amount
    - Run the tests again
- run: { run: node --test, expect_exit: 1 }
- run: cat src/invoice.js
- thought: The tax is computed from the full amount. It must be computed after the discount.
- edit:
    path: src/invoice.js
    old: |2
        const net = subtotal(lines)
        const tax = Math.round((net * tax_percent) / 100)
        return net - discount(net, discount_percent) + tax
    new: |2
        const full = subtotal(lines)
        const net = full - discount(full, discount_percent)
        const tax = Math.round((net * tax_percent) / 100)
        return net + tax
- run: node --test
- answer: |
    Tax is now taken from the amount after the discount. All three tests pass.
\`\`\`
`
