import { expect, test } from 'vitest'
import { fillTemplate, unanswered } from './pull-request-template.ts'

const template = `# Pull request

## Description
<!-- What does this change, and why? -->

## How was it tested?
<!-- Commands,
     and what they printed. -->

## Checklist
- [ ] I have added tests
- [ ] I have read the guide
`

test('the description is below the heading for it, hints are removed, and unanswered headings stay visible', () => {
  expect(fillTemplate(template, ' The total is rounded.\n')).toBe(`# Pull request

## Description

The total is rounded.

## How was it tested?

## Checklist
- [ ] I have added tests
- [ ] I have read the guide`)
})

test('a template without a heading for the description has it on top', () => {
  expect(fillTemplate('Fixes #\n', 'Rounds.')).toBe('Rounds.\n\nFixes #')
  expect(fillTemplate('', 'Rounds.')).toBe('Rounds.')
  expect(fillTemplate('<!-- only a hint', 'Rounds.')).toBe('Rounds.')
})

test('a heading in a block of code does not count', () => {
  expect(fillTemplate('```\n# Summary\n```\n## What\n', 'Rounds.')).toBe(
    '```\n# Summary\n```\n## What\n\nRounds.',
  )
})

test('what a body leaves unanswered is named, a title over other headings is not', () => {
  expect(unanswered(template, fillTemplate(template, 'Rounds.'))).toEqual(['How was it tested?', 'Checklist'])
  expect(unanswered(template, 'Rounds.')).toEqual(['Description', 'How was it tested?', 'Checklist'])
  const whole = fillTemplate(template, 'Rounds.')
    .replace('tested?\n', 'tested?\n`npm test`\n')
    .replaceAll('[ ]', '[x]')
  expect(unanswered(template, whole)).toEqual([])
  expect(unanswered('No headings at all', 'Rounds.')).toEqual([])
})
