import { expect, it } from 'vitest'
import { agent_permissions } from '../../contract/organizations/agent-permissions.ts'
import { stricterPermissions } from './stricter-permissions.ts'

it('an organization can only be stricter than the operator', () => {
  expect(agent_permissions.map(policy => stricterPermissions(policy, null))).toEqual(['allow', 'ask', 'deny'])
  expect(agent_permissions.map(policy => stricterPermissions('ask', policy))).toEqual(['ask', 'ask', 'deny'])
  expect(agent_permissions.map(policy => stricterPermissions(policy, 'ask'))).toEqual(['ask', 'ask', 'deny'])
  expect(agent_permissions.map(policy => stricterPermissions('deny', policy))).toEqual([
    'deny',
    'deny',
    'deny',
  ])
})
