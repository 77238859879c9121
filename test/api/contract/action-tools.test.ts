import { expect, test } from 'vitest'
import { actionTool, agentTools, serviceTools } from '../../../src/contract/runs/action-tools.ts'
import { toolInputs } from '../../../src/contract/runs/tools.ts'
import { sourceFiles } from '../../source-tree.ts'

const code = [...sourceFiles('src', ['.ts']), ...sourceFiles('web/src', ['.ts', '.tsx'])].filter(
  ({ path }) => !path.endsWith('.test.ts') && !path.startsWith('src/contract/'),
)

test('every tool of the model has an input in the contract, and no two tools share a name', () => {
  expect(Object.keys(toolInputs)).toEqual([...agentTools])
  expect(Object.keys(actionTool)).toHaveLength(agentTools.length + serviceTools.length)
})

test('names of ACTION tools are written in the contract only', () => {
  const names = Object.keys(actionTool).join('|')
  const uses = new RegExp(`(?:tool_name\\b[^\\n]{0,40}|serviceAction\\(\\s*)['"](?:${names})['"]`, 'g')
  // Ambiguous words (`check`, `log_analysis`) are matched by their context.
  const unmistakable = Object.keys(actionTool).filter(
    name =>
      name.includes('_') &&
      !['log_analysis', 'get_run', 'start_run', 'apply_patch', 'web_fetch'].includes(name),
  )
  const anywhere = new RegExp(`['"](?:${unmistakable.join('|')})['"]`, 'g')
  const literals = code.flatMap(({ path, text }) =>
    [...text.matchAll(uses), ...text.matchAll(anywhere)].map(([match]) => `${path}: ${match}`),
  )
  expect(literals).toEqual([])
})
