import {
  PlaybookMistake,
  readPlaybookBlock,
  type YamlMap,
  type YamlText,
  type YamlValue,
} from './playbook-yaml.ts'

/** The model that needs no provider. */
export const SCRIPTED_MODEL_ID = 'scripted/playbook'

/** One action of the scripted agent. `line` is 1-based in the prompt. */
export type PlaybookStep = { line: number } & (
  | { kind: 'thought'; text: string }
  | { kind: 'plan'; items: string[] }
  | { kind: 'run'; command: string; expect_exit: number; timeout_seconds: number | null }
  | { kind: 'write'; path: string; content: string }
  | { kind: 'edit'; path: string; old: string; new: string }
  | { kind: 'ask'; question: string }
  | { kind: 'answer'; text: string }
)

type PlaybookFinding = { path: string | null; line: number | null; severity: string | null; body: string }
export type PlaybookVerdict = { verdict: string; findings: PlaybookFinding[] }

export type Playbook = {
  /** The steps of the plan agent, in order; at most one `answer`, as the last step. */
  steps: PlaybookStep[]
  on_checks_failed: PlaybookStep[] | null
  evaluate_commit: PlaybookVerdict | null
  evaluate_pr: PlaybookVerdict | null
}

type FoundPlaybook =
  | { ok: true; playbook: Playbook }
  | { ok: false; line: number; key: string; message: string }

const MAX_PLAYBOOK_STEPS = 500
const MAX_TIMEOUT_SECONDS = 3_600
const MAX_PLAN_ITEMS = 100
/** Characters, as the tools limit them: a step that its tool would reject is rejected with the playbook. */
const MAX_CHARS = { run: 100_000, path: 4_096, plan: 2_000, ask: 20_000, text: 200_000 }
const STEP_KEYS = ['thought', 'plan', 'run', 'write', 'edit', 'ask', 'answer']
const PHASE_KEYS = ['on_checks_failed', 'evaluate_commit', 'evaluate_pr']

/**
 * Returns the playbook of a prompt (specification.md#playbooks): the fenced block whose info string is
 * `playbook`. Null when the prompt has none. For an invalid block, returns the 1-based line in the prompt,
 * the affected key (`run.expect_exit`; `playbook` for the block itself) and one sentence.
 */
export function findPlaybook(prompt: string): FoundPlaybook | null {
  try {
    const block = readPlaybookBlock(prompt)
    return block && { ok: true, playbook: readPlaybook(block) }
  } catch (mistake) {
    if (mistake instanceof PlaybookMistake)
      return { ok: false, line: mistake.line, key: mistake.key, message: mistake.message }
    throw mistake
  }
}

function readPlaybook(block: YamlValue): Playbook {
  const playbook: Playbook = { steps: [], on_checks_failed: null, evaluate_commit: null, evaluate_pr: null }
  const taken = new Set<string>()
  let count = 0
  const countSteps = (item: YamlValue) => {
    if (++count > MAX_PLAYBOOK_STEPS)
      throw new PlaybookMistake(item.line, 'playbook', `a playbook has at most ${MAX_PLAYBOOK_STEPS} steps`)
  }
  for (const item of list(block, 'playbook')) {
    countSteps(item)
    const { key, value, map } = stepKey(item, [...STEP_KEYS, ...PHASE_KEYS])
    if (!PHASE_KEYS.includes(key)) {
      addStep(playbook.steps, readStep(key, value, map))
      continue
    }
    if (taken.has(key)) throw new PlaybookMistake(map.line, key, `${key} can be given once`)
    taken.add(key)
    if (key === 'evaluate_commit') playbook.evaluate_commit = readVerdict(value, key)
    else if (key === 'evaluate_pr') playbook.evaluate_pr = readVerdict(value, key)
    else {
      playbook.on_checks_failed = []
      for (const inner of list(value, key)) {
        countSteps(inner)
        const step = stepKey(inner, STEP_KEYS)
        addStep(playbook.on_checks_failed, readStep(step.key, step.value, step.map))
      }
    }
  }
  if (count === 0) throw new PlaybookMistake(block.line, 'playbook', 'the playbook is empty')
  return playbook
}

function addStep(steps: PlaybookStep[], step: PlaybookStep): void {
  if (steps.at(-1)?.kind === 'answer') {
    throw new PlaybookMistake(
      step.line,
      step.kind,
      'the answer ends the turn; a step after it is never played',
    )
  }
  steps.push(step)
}

/** A step has one key; only `run` may be combined with `expect_exit` and `timeout`. */
function stepKey(item: YamlValue, known: string[]): { key: string; value: YamlValue; map: YamlMap } {
  if (item.kind !== 'map')
    throw new PlaybookMistake(item.line, 'playbook', `a step has one key of: ${known.join(', ')}`)
  const entry = item.entries.find(({ key }) => key === 'run') ?? item.entries[0]
  if (!entry || !known.includes(entry.key)) {
    throw new PlaybookMistake(
      entry?.line ?? item.line,
      entry?.key ?? 'playbook',
      `a step has one key of: ${known.join(', ')}`,
    )
  }
  const extra = item.entries.find(other => other !== entry)
  if (extra && entry.key !== 'run')
    throw new PlaybookMistake(extra.line, extra.key, `a step has one key, and here is ${entry.key} already`)
  return { key: entry.key, value: entry.value, map: item }
}

function readStep(key: string, value: YamlValue, map: YamlMap): PlaybookStep {
  const { line } = map
  switch (key) {
    case 'thought':
      return { line, kind: 'thought', text: filled(value, key).text }
    case 'ask':
      return { line, kind: 'ask', question: filled(value, key, MAX_CHARS.ask).text }
    case 'answer':
      return { line, kind: 'answer', text: filled(value, key).text }
    case 'plan': {
      const items = list(value, key).map(item => filled(item, key, MAX_CHARS.plan).text)
      if (items.length === 0 || items.length > MAX_PLAN_ITEMS)
        throw new PlaybookMistake(value.line, key, `plan must have 1 to ${MAX_PLAN_ITEMS} items`)
      return { line, kind: 'plan', items }
    }
    case 'write': {
      const { path, content } = fields(value, key, ['path', 'content'])
      return {
        line,
        kind: 'write',
        path: filled(path, 'write.path', MAX_CHARS.path).text,
        content: anyText(content, 'write.content').text,
      }
    }
    case 'edit': {
      const { path, old, new: replacement } = fields(value, key, ['path', 'old', 'new'])
      const oldText = anyText(old, 'edit.old')
      if (oldText.text === '')
        throw new PlaybookMistake(oldText.line, 'edit.old', 'edit.old must not be empty')
      return {
        line,
        kind: 'edit',
        path: filled(path, 'edit.path', MAX_CHARS.path).text,
        old: oldText.text,
        new: anyText(replacement, 'edit.new').text,
      }
    }
    default: {
      const nested = value.kind === 'map' && map.entries.length === 1
      const { run, expect_exit, timeout } = fields(
        nested ? value : map,
        'run',
        ['run'],
        ['expect_exit', 'timeout'],
      )
      return {
        line,
        kind: 'run',
        command: filled(run, 'run', MAX_CHARS.run).text,
        expect_exit: expect_exit ? integer(expect_exit, 'run.expect_exit', 0, 255) : 0,
        timeout_seconds: timeout ? integer(timeout, 'run.timeout', 1, MAX_TIMEOUT_SECONDS) : null,
      }
    }
  }
}

function readVerdict(value: YamlValue, key: string): PlaybookVerdict {
  const { verdict, findings } = fields(value, key, ['verdict'], ['findings'])
  const at = `${key}.findings`
  const items = findings ? list(findings, at) : []
  return {
    verdict: filled(verdict, `${key}.verdict`).text,
    findings: items.map(item => {
      if (item.kind === 'text') return { path: null, line: null, severity: null, body: filled(item, at).text }
      const { body, path, line, severity } = fields(item, at, ['body'], ['path', 'line', 'severity'])
      return {
        path: path ? filled(path, `${at}.path`).text : null,
        line: line ? integer(line, `${at}.line`, 1, 999_999_999) : null,
        severity: severity ? filled(severity, `${at}.severity`).text : null,
        body: filled(body, `${at}.body`).text,
      }
    }),
  }
}

function list(value: YamlValue, key: string): YamlValue[] {
  if (value.kind === 'list') return value.items
  throw new PlaybookMistake(value.line, key, `${key} must be a list`)
}

function anyText(value: YamlValue | undefined, key: string): YamlText {
  if (value?.kind === 'text') return value
  throw new PlaybookMistake(value?.line ?? 1, key, `${key} must be a text`)
}

function filled(value: YamlValue | undefined, key: string, max = MAX_CHARS.text): YamlText {
  const found = anyText(value, key)
  if (found.text.length > max)
    throw new PlaybookMistake(found.line, key, `${key} has at most ${max} characters`)
  if (found.text.trim() === '') throw new PlaybookMistake(found.line, key, `${key} must not be empty`)
  return found
}

function integer(value: YamlValue, key: string, min: number, max: number): number {
  const number = value.kind === 'text' && /^\d{1,9}$/.test(value.text) ? Number(value.text) : Number.NaN
  if (number >= min && number <= max) return number
  throw new PlaybookMistake(value.line, key, `${key} must be a whole number from ${min} to ${max}`)
}

/** Returns the values of a mapping by key: all `required` ones, some of the `optional` ones, no others. */
function fields(
  value: YamlValue,
  key: string,
  required: string[],
  optional: string[] = [],
): Record<string, YamlValue | undefined> {
  const form = `${key} must be a mapping with ${required.join(', ')}`
  if (value.kind !== 'map') throw new PlaybookMistake(value.line, key, form)
  const unknown = value.entries.find(entry => !required.includes(entry.key) && !optional.includes(entry.key))
  if (unknown)
    throw new PlaybookMistake(
      unknown.line,
      `${key}.${unknown.key}`,
      `${key} does not know the key "${unknown.key}"`,
    )
  const missing = required.find(name => !value.entries.some(entry => entry.key === name))
  if (missing) throw new PlaybookMistake(value.line, `${key}.${missing}`, `${key} needs ${missing}`)
  return Object.fromEntries(value.entries.map(entry => [entry.key, entry.value]))
}
