import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findPlaybook, type Playbook } from './playbook.ts'

const fenced = (yaml: string) => `Please do this.\n\n\`\`\`playbook\n${yaml}\n\`\`\`\n`

function play(yaml: string): Playbook {
  const found = findPlaybook(fenced(yaml))
  if (!found?.ok) throw new Error(`expected a playbook, got ${JSON.stringify(found)}`)
  return found.playbook
}

function mistake(yaml: string) {
  const found = findPlaybook(fenced(yaml))
  if (!found || found.ok) throw new Error(`expected a mistake, got ${JSON.stringify(found)}`)
  return found
}

describe('the block in the prompt', () => {
  test('a prompt without the info string has no playbook', () => {
    for (const prompt of [
      '',
      'fix the bug',
      '```yaml\n- run: ls\n```',
      '    ```playbook\n    - run: ls\n    ```',
      '`playbook`',
      '```playbooks\n- run: ls\n```',
    ])
      expect(findPlaybook(prompt)).toBeNull()
  })

  test.each([
    ['backticks', '```playbook\n- run: ls\n```'],
    ['tildes', '~~~ playbook\n- run: ls\n~~~'],
    ['a longer fence', '`````playbook\n- run: ls\n`````'],
    ['an indented fence', 'text\n  ```playbook\n  - run: ls\n  ```'],
    ['carriage returns', 'text\r\n```playbook\r\n- run: ls\r\n```\r\n'],
    ['words after the info string', '```playbook v1\n- run: ls\n```'],
  ])('is found with %s', (_name, prompt) => {
    expect(findPlaybook(prompt)).toMatchObject({
      ok: true,
      playbook: { steps: [{ kind: 'run', command: 'ls' }] },
    })
  })

  test('a playbook quoted inside another block is text, not a script', () => {
    expect(findPlaybook('````md\n```playbook\n- run: rm -rf .\n```\n````\n')).toBeNull()
    expect(findPlaybook('~~~\n```playbook\n- run: rm -rf .\n```\n~~~\n')).toBeNull()
  })

  test('a shorter fence inside the block is content', () => {
    const found = findPlaybook('````playbook\n- answer: |\n    a\n- thought: x\n```\n````\n')
    expect(found).toMatchObject({ ok: false })
    expect(
      findPlaybook(
        '~~~playbook\n- write:\n    path: a.md\n    content: |\n      ```sh\n      ls\n      ```\n~~~',
      ),
    ).toMatchObject({
      ok: true,
      playbook: { steps: [{ content: '```sh\nls\n```\n' }] },
    })
  })

  test('an unclosed fence and a second playbook are refused at their line', () => {
    expect(findPlaybook('a\nb\n```playbook\n- run: ls')).toMatchObject({
      ok: false,
      line: 3,
      key: 'playbook',
    })
    expect(findPlaybook('```playbook\n- run: ls\n```\n```playbook\n- run: ls\n```')).toMatchObject({
      ok: false,
      line: 4,
      key: 'playbook',
    })
  })
})

describe('steps', () => {
  test('every step of the grammar is read with its line in the prompt', () => {
    const playbook = play(`- thought: look first
- plan: [read, "fix: it"]
- run: npm test
- run: {run: npm test, expect_exit: 1, timeout: 30}
- run: grep -c TODO src
  expect_exit: 2
- write: {path: a.txt, content: ""}
- edit: {path: a.js, old: "  a", new: ""}
- ask: which one?
- answer: 'done: all green'`)
    expect(playbook.steps).toEqual([
      { line: 4, kind: 'thought', text: 'look first' },
      { line: 5, kind: 'plan', items: ['read', 'fix: it'] },
      { line: 6, kind: 'run', command: 'npm test', expect_exit: 0, timeout_seconds: null },
      { line: 7, kind: 'run', command: 'npm test', expect_exit: 1, timeout_seconds: 30 },
      { line: 8, kind: 'run', command: 'grep -c TODO src', expect_exit: 2, timeout_seconds: null },
      { line: 10, kind: 'write', path: 'a.txt', content: '' },
      { line: 11, kind: 'edit', path: 'a.js', old: '  a', new: '' },
      { line: 12, kind: 'ask', question: 'which one?' },
      { line: 13, kind: 'answer', text: 'done: all green' },
    ])
  })

  test('words that YAML 1.1 would turn into other types stay text', () => {
    expect(
      play('- run: true\n- run: 42\n- run: no\n- answer: null').steps.map(step =>
        step.kind === 'run' ? step.command : step.kind,
      ),
    ).toEqual(['true', '42', 'no', 'answer'])
  })

  test('steps for later phases are read and kept apart', () => {
    const playbook = play(`- run: make
- on_checks_failed:
    - edit: {path: a, old: x, new: y}
    - answer: fixed
- evaluate_commit: {verdict: approve}
- evaluate_pr:
    verdict: request_changes
    findings: [plain, {path: a.js, line: 3, severity: high, body: wrong}]`)
    expect(playbook.steps).toHaveLength(1)
    expect(playbook.on_checks_failed?.map(step => step.kind)).toEqual(['edit', 'answer'])
    expect(playbook.evaluate_commit).toEqual({ verdict: 'approve', findings: [] })
    expect(playbook.evaluate_pr?.findings).toEqual([
      { path: null, line: null, severity: null, body: 'plain' },
      { path: 'a.js', line: 3, severity: 'high', body: 'wrong' },
    ])
  })
})

describe('mistakes name the line in the prompt and the key', () => {
  test.each([
    ['not a list', 'run: ls', 4, 'playbook'],
    ['nothing', '', 3, 'playbook'],
    ['an empty list', '[]', 4, 'playbook'],
    ['a word as step', '- run: ls\n- done', 5, 'playbook'],
    ['an unknown step', '- run: ls\n- shell: ls', 5, 'shell'],
    ['two keys in a step', '- thought: x\n  answer: y', 5, 'answer'],
    ['an unknown key of run', '- run: ls\n  cwd: /', 5, 'run.cwd'],
    ['an empty command', '- run:', 4, 'run'],
    ['a command that is a list', '- run: [ls, -l]', 4, 'run'],
    ['an exit beyond 255', '- run: ls\n  expect_exit: 256', 5, 'run.expect_exit'],
    ['an exit that is not a number', '- run: {run: ls, expect_exit: 0x1}', 4, 'run.expect_exit'],
    ['a timeout of nothing', '- run: {run: ls, timeout: 0}', 4, 'run.timeout'],
    ['write without content', '- run: ls\n- write:\n    path: a', 6, 'write.content'],
    ['an unknown key of edit', '- edit: {path: a, old: b, new: c, all: true}', 4, 'edit.all'],
    ['an empty old text', '- edit: {path: a, old: "", new: c}', 4, 'edit.old'],
    ['an empty plan', '- plan: []', 4, 'plan'],
    ['a plan without end', `- plan: [${'x,'.repeat(100)}x]`, 4, 'plan'],
    ['a command longer than the tool takes', `- run: ${'x'.repeat(100_001)}`, 4, 'run'],
    [
      'a path longer than the tool takes',
      `- write: {path: ${'x'.repeat(4_097)}, content: x}`,
      4,
      'write.path',
    ],
    ['a question longer than the tool takes', `- ask: ${'x'.repeat(20_001)}`, 4, 'ask'],
    ['an empty answer', '- answer: " "', 4, 'answer'],
    ['a step after the answer', '- answer: x\n- run: ls', 5, 'run'],
    ['a phase inside a phase', '- on_checks_failed:\n    - evaluate_pr: {verdict: x}', 5, 'evaluate_pr'],
    ['a phase given twice', '- evaluate_pr: {verdict: x}\n- evaluate_pr: {verdict: y}', 5, 'evaluate_pr'],
    ['a verdict without verdict', '- evaluate_pr: {findings: []}', 4, 'evaluate_pr.verdict'],
    ['a colon in a plain text', '- run: ls\n- answer: done: all green', 5, 'playbook'],
    ['a duplicate key', '- run: ls\n  run: pwd', 5, 'playbook'],
    ['broken YAML', '- run: ls\n- write: {path: a', 6, 'playbook'],
    ['tabs as indentation', '- write:\n\tpath: a', 5, 'playbook'],
    ['two documents', '- run: ls\n---\n- run: pwd', 5, 'playbook'],
    ['an alias', '- run: &a ls\n- run: *a', 4, 'playbook'],
    ['a tag', '- run: !!binary aGk=', 4, 'playbook'],
    ['a merge key', '- write:\n    <<: {path: a}\n    content: b', 5, 'write.<<'],
  ])('%s', (_name, yaml, line, key) => {
    const found = mistake(yaml)
    expect({ line: found.line, key: found.key }).toEqual({ line, key })
    expect(found.message).not.toContain('\n')
  })
})

describe('bounds', () => {
  test('500 steps are played, 501 are refused, inner ones counted', () => {
    expect(play('- run: ls\n'.repeat(500)).steps).toHaveLength(500)
    expect(mistake('- run: ls\n'.repeat(501))).toMatchObject({
      line: 504,
      message: expect.stringContaining('500'),
    })
    expect(mistake(`${'- run: ls\n'.repeat(499)}- on_checks_failed:\n  - run: ls\n`)).toMatchObject({
      line: 504,
    })
  })

  test('more than 200,000 bytes are refused, counted as bytes', () => {
    expect(play(`- answer: "${'x'.repeat(199_000)}"`).steps).toHaveLength(1)
    expect(mistake(`- answer: "${'ä'.repeat(100_001)}"`)).toMatchObject({
      line: 3,
      message: expect.stringContaining('200000'),
    })
  })

  test.each(['[', '{a: ', '- ', '? ', 'a: ['])(
    'nesting %j thousandfold is refused and does not end the process',
    piece => {
      for (const times of [50, 10_000, Math.floor(199_000 / piece.length)])
        expect(mistake(piece.repeat(times)).message).toMatch(/nested too deeply|not valid/)
    },
  )

  test('more parts than a playbook can have are refused before they are put together', () => {
    expect(mistake(`- plan: [${'x,'.repeat(20_000)}]`).message).toContain('too many parts')
  })

  test('a bomb of aliases is refused', () => {
    const levels = Array.from(
      { length: 9 },
      (_, n) =>
        `- &l${n} [${Array(9)
          .fill(n === 0 ? 'x' : `*l${n - 1}`)
          .join(', ')}]`,
    )
    expect(mistake(levels.join('\n')).message).toMatch(/anchors|aliases/)
  })
})

test('any text gives a playbook, a mistake inside the prompt, or nothing', () => {
  const piece = fc.constantFrom(
    '- ',
    'run',
    ': ',
    'answer',
    '\n',
    '  ',
    '"',
    "'",
    '[',
    ']',
    '{',
    '}',
    '&a ',
    '*a',
    '!x ',
    '|',
    '>',
    '#',
    '---',
    '```',
    '\t',
    'x',
    '\u0000',
    '\ud800',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), pieces => {
      const prompt = fenced(pieces.join(''))
      const found = findPlaybook(prompt)
      if (found?.ok === false) {
        expect(found.line).toBeGreaterThanOrEqual(1)
        expect(found.line).toBeLessThanOrEqual(prompt.split('\n').length)
      }
    }),
    { numRuns: 500 },
  )
})
