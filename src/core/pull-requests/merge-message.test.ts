import { expect, test } from 'vitest'
import { mergeMessage } from './merge-message.ts'

const pull_request = {
  title: ' Round the total ',
  body: 'It was cut.\n',
  head_branch: 'agent/run-12-round',
  base_branch: 'main',
  trailer: 'Agent-Run',
  run_url: 'http://x/agent/trace/12',
}

test('a merge names source and target, a squash its change; both name the run in a trailer', () => {
  expect(mergeMessage({ ...pull_request, method: 'merge' })).toBe(
    "Merge branch 'agent/run-12-round' into main\n\nRound the total\n\nAgent-Run: http://x/agent/trace/12\n",
  )
  expect(mergeMessage({ ...pull_request, method: 'squash' })).toBe(
    'Round the total\n\nIt was cut.\n\nAgent-Run: http://x/agent/trace/12\n',
  )
  expect(mergeMessage({ ...pull_request, body: '', method: 'squash' })).toBe(
    'Round the total\n\nAgent-Run: http://x/agent/trace/12\n',
  )
  expect(mergeMessage({ ...pull_request, run_url: null, method: 'squash' })).toBe(
    'Round the total\n\nIt was cut.\n',
  )
})
