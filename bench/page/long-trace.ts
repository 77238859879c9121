import type { Database } from '../../src/store/database.ts'
import { append } from '../../src/store/runs/append.ts'
import { entry } from '../../src/trace/entry.ts'

const BATCH = 250
const STEPS_PER_PLAN = 400
/**
 * Words that are in some entry or other, of different frequency: the nth is drawn about 1/n as often as the
 * first.
 */
const words =
  'the expected received error test build at value in module null of not warning function import from undefined result config to file path type timeout service user invoice total line price request response status cache token parser stream buffer render commit branch merge node version package install resolve async promise reject worker queue lease retry socket listener session schema migration index column query cursor transaction rollback snapshot checkpoint sandbox container volume mount network proxy gateway certificate handshake cipher digest signature entropy archive manifest artifact pipeline stage matrix runner coverage assertion fixture matcher spy stub'.split(
    ' ',
  )

/** A generator of the same numbers in each run, from 0 up to `below`. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const word = (random: (below: number) => number) =>
  words[Math.min(words.length - 1, Math.floor(words.length ** (random(1_000) / 1_000) - 1))] ?? ''
const sentence = (random: (below: number) => number, length: number) =>
  Array.from({ length }, () => word(random)).join(' ')

/**
 * An entry as a coding agent leaves them: mostly commands with 1 to 4 KB of coloured output, files that were
 * read, edits and plans.
 */
function nthEntry(n: number, random: (below: number) => number) {
  const path = `src/${word(random)}/${word(random)}-${n % 97}.ts`
  const thought = n % 3 === 0 ? `Now I check ${sentence(random, 12)} in ${path}.` : null
  if (n % STEPS_PER_PLAN === 0) {
    const plan = [1, 2, 3].map(id => ({
      id,
      text: `Part ${n / STEPS_PER_PLAN}.${id}: ${sentence(random, 4)}`,
      state: id === 1 ? 'in_progress' : 'pending',
    }))
    return entry({
      message_type: 'PLAN_EVALUATION',
      thought: plan.map(({ text }) => text).join('\n'),
      observation: { plan },
    })
  }
  const timing = { thought, duration_ms: 20 + random(4_000) }
  if (n % 9 === 0) {
    const edit = { path, old: sentence(random, 20), new: sentence(random, 22) }
    return entry({
      message_type: 'ACTION',
      ...timing,
      tool_name: 'edit',
      tool_input: edit,
      tool_output: { status: 'ok', replacements: 1 },
    })
  }
  if (n % 4 === 0) {
    const content = Array.from({ length: 10 + random(30) }, () => sentence(random, 8)).join('\n')
    return entry({
      message_type: 'ACTION',
      ...timing,
      tool_name: 'read',
      tool_input: { path },
      tool_output: { status: 'ok', content, truncated: false },
    })
  }
  const failed = n % 50 === 0
  const lines = Array.from(
    { length: 10 + random(50) },
    (_, at) => `\u001b[${31 + (at % 6)}m✓\u001b[0m ${path}:${at} ${sentence(random, 7)}`,
  )
  return entry({
    message_type: 'ACTION',
    ...timing,
    tool_name: 'shell',
    tool_input: { command: `npm test -- ${path} # step ${n}` },
    tool_output: { status: 'ok', exit_code: failed ? 1 : 0, output: lines.join('\n'), truncated: false },
  })
}

/** Appends entries to a run as its worker does, until it has `entries`. The last one has the text `last`. */
export async function writeLongTrace(
  db: Database,
  [organization_id, run_id]: [number, number],
  entries: number,
  last: string,
): Promise<void> {
  const random = numbers(7)
  const usage = {
    model: 'bench/model',
    steps: 0,
    input_tokens: 900,
    output_tokens: 90,
    cached_tokens: 800,
    estimated_calls: 0,
    cost_usd: '0.0123',
  }
  const record = { kind: 'model_answered', key: null, body: '{}' } as const
  for (let next = 2; next <= entries; ) {
    const count = Math.min(BATCH, entries - next + 1)
    const batch = Array.from({ length: count }, (_, n) => nthEntry(next + n, random))
    next += count
    if (next > entries)
      batch[batch.length - 1] = entry({
        message_type: 'ACTION',
        tool_name: 'shell',
        tool_input: { command: last },
      })
    await append(db, organization_id, run_id, null, { entries: batch, records: [record], usage })
  }
  await db.query({ text: 'vacuum analyze log_entries' })
}
