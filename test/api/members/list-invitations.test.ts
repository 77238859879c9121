import { describe, expect, test } from 'vitest'
import { Invitation, InvitationPage } from '../../../src/contract/organizations/members.ts'
import { rows } from '../../start-app.ts'
import { expectProblem } from '../expect-problem.ts'
import { addPerson } from './people.ts'
import { accept, startMembers } from './start-members.ts'

const { app, other, admin, add, added, invited, newEmail, newOrganization, unchanged } = await startMembers()

describe('GET and DELETE …/invitations', () => {
  test('200: unaccepted ones, oldest first, page by page, and none of another organization', async () => {
    const { caller } = await newOrganization()
    const [first, second] = [
      await invited({ email: newEmail() }, caller),
      await invited({ email: newEmail() }, caller),
    ]
    const page = InvitationPage.strict().parse((await caller.request('GET', '/invitations')).body)
    expect([page.total, page.items.map(item => item.id)]).toEqual([2, [first.id, second.id]])
    expect((await caller.request('GET', '/invitations?skip=1&limit=1')).body).toMatchObject({
      items: [{ id: second.id }],
      total: 2,
    })
    expect(
      Invitation.strict().parse((await caller.request('DELETE', `/invitations/${first.id}`)).body).id,
    ).toBe(first.id)
    expectProblem(await caller.request('DELETE', `/invitations/${first.id}`), 404)
    expectProblem(await caller.request('DELETE', `/invitations/${other.invitation_id}`), 404)
    await accept(app, second.invitation_link)
    expect((await caller.request('GET', '/invitations')).body.total).toBe(0)
  })

  test('200: an invitation is void when its creator is removed or loses the role', async () => {
    for (const end of [
      (id: number) => admin.request('DELETE', `/members/${id}`),
      (id: number) => admin.request('PATCH', `/members/${id}`, { role: 'MEMBER' }),
    ]) {
      const creator = await addPerson(app, 'ADMIN')
      const { invitation_link } = await invited({ email: newEmail(), role: 'ADMIN' }, creator)
      expect((await end(creator.user_id)).status).toBe(200)
      expectProblem(await accept(app, invitation_link), 404)
    }
  })

  test('an address of a member cannot be invited by the same organization, but by another one', async () => {
    const email = newEmail()
    await added({ email })
    await unchanged(async () => expectProblem(await add({ email: email.toUpperCase() }), 409))
    await invited({ email }, (await newOrganization()).caller)
  })

  test('two open invitations for one person: the second does not create a second membership', async () => {
    const { caller, org_id } = await newOrganization()
    const [one, two] = [
      await invited({ email: newEmail() }, caller),
      await invited({ email: newEmail(), role: 'ADMIN' }, caller),
    ]
    const { cookie } = await accept(app, one.invitation_link)
    expectProblem(await accept(app, two.invitation_link, cookie), 409)
    expect(
      await rows(app, 'select role from memberships where organization_id = $1 and email = $2', [
        org_id,
        one.email,
      ]),
    ).toEqual([{ role: 'MEMBER' }])
  })

  test('the last ADMIN is not replaced by an unaccepted invitation', async () => {
    const { caller, user_id } = await newOrganization()
    const { invitation_link } = await invited({ email: newEmail(), role: 'ADMIN' }, caller)
    expectProblem(await caller.request('DELETE', `/members/${user_id}`), 409)
    await accept(app, invitation_link)
    expect((await caller.request('DELETE', `/members/${user_id}`)).status).toBe(200)
  })
})
