import { expect } from 'vitest'
import { getCustomPrompt, getMember } from '../../../src/store/access/accounts.ts'
import { claimToken, revokeClaim } from '../../../src/store/access/authorization-codes.ts'
import { deleteInvitation, deleteInvitationsBy } from '../../../src/store/access/invitations.ts'
import {
  belongsElsewhere,
  deleteMembership,
  hasMemberOf,
  holdMembership,
  lockMember,
  setGithubAccount,
  setRole,
} from '../../../src/store/access/members.ts'
import {
  forgetDefaultRepository,
  setDefaultRepository,
  updateOrganization,
} from '../../../src/store/access/organizations.ts'
import {
  resealForge,
  resealRunTargets,
  resealSecret,
  resealWebhook,
  secretsOfOtherKeys,
} from '../../../src/store/access/resealing.ts'
import { findLiveTokens } from '../../../src/store/access/token-access.ts'
import { getToken, listTokens, revokeToken, revokeTokensOf } from '../../../src/store/access/tokens.ts'
import { insertEvent } from '../../../src/store/runs/organization-events.ts'
import { insertDeliveries } from '../../../src/store/webhooks/webhook-deliveries.ts'
import {
  getDelivery,
  listAttempts,
  listDeliveries,
  requeueDelivery,
} from '../../../src/store/webhooks/webhook-ledger.ts'
import { scheduleNext, settleDelivery } from '../../../src/store/webhooks/webhook-outcomes.ts'
import type { Ours, Reaches } from './ours.ts'
import { settlement } from './samples.ts'

/** Members, tokens, webhooks and keys of an organization: the other organization (`org`) accessing ours. */
export const reachesOfOrganizations = ({ app, mine, stranger }: Ours): Reaches => ({
  insertDeliveries: (db, org) =>
    insertDeliveries(db, org, mine.notified_run, { seq: 1, type: 'agent_run.created', change: '{}' }),
  settleDelivery: (db, org) =>
    settleDelivery(db, { organization_id: org, id: mine.claimed, epoch: 1, n: 1 }, settlement),
  scheduleNext: (db, org) => scheduleNext(db, org, mine.notified_run, 'https://a.example/'),
  listDeliveries: (db, org) =>
    listDeliveries(db, org, { agent_run_id: [mine.notified_run] }, { skip: 0, limit: 100 }),
  getDelivery: (db, org) => getDelivery(db, org, mine.delivery),
  listAttempts: (db, org) => listAttempts(db, org, mine.claimed, 100),
  requeueDelivery: (db, org) => requeueDelivery(db, org, mine.delivery),
  belongsElsewhere: async (db, org) => {
    // Of the user's memberships in other organizations it reports the existence, which is its purpose; and
    // only to members.
    expect(await belongsElsewhere(db, org, app.user_id)).toBe(true)
    return belongsElsewhere(db, org, 424_242)
  },
  deleteInvitation: (db, org) => deleteInvitation(db, org, mine.invitation),
  deleteInvitationsBy: (db, org) => deleteInvitationsBy(db, org, app.user_id),
  hasMemberOf: (db, org) => hasMemberOf(db, org, 'ours@example.org'),
  deleteMembership: (db, org) => deleteMembership(db, org, app.user_id),
  findLiveTokens: async (db, org) =>
    (await findLiveTokens(db, [{ token_id: mine.token, organization_id: org }]))[0],
  getToken: (db, org) => getToken(db, org, stranger, mine.token),
  holdMembership: (db, org) => holdMembership(db, org, app.user_id),
  listTokens: async (db, org) =>
    (await listTokens(db, org, stranger, { skip: 0, limit: 100 })).rows.filter(row => row.id === mine.token),
  lockMember: (db, org) => lockMember(db, org, app.user_id),
  claimToken: (db, org) =>
    claimToken(db, org, mine.token, { digest: Buffer.from('new'), prefix: 'p', hint: 'h' }),
  revokeClaim: (db, org) => revokeClaim(db, org, mine.token),
  revokeToken: (db, org) => revokeToken(db, org, stranger, mine.token),
  revokeTokensOf: (db, org) => revokeTokensOf(db, org, app.user_id),
  setGithubAccount: (db, org) => setGithubAccount(db, org, app.user_id, { github_username: 'x' }),
  setRole: (db, org) => setRole(db, org, app.user_id, 'READER'),
  resealSecret: async (db, org) => {
    const [row] = await secretsOfOtherKeys(app.db, 'another', 0, 1)
    if (!row) throw new Error('no secret')
    return resealSecret(db, { ...row, organization_id: org }, 'new', Buffer.from('x'))
  },
  resealForge: (db, org) =>
    resealForge(
      db,
      { id: mine.forge, organization_id: org, url: 'u', key_id: 'k', sealed: Buffer.from('s') },
      'new',
      Buffer.from('x'),
    ),
  resealWebhook: (db, org) =>
    resealWebhook(
      db,
      { organization_id: org, which: 'current', key_id: 'k', sealed: Buffer.from('s') },
      'new',
      Buffer.from('x'),
    ),
  resealRunTargets: (db, org) =>
    resealRunTargets(db, { organization_id: org, id: mine.run, webhooks: '[]' }, '[1]'),
  getCustomPrompt: async (db, org) => (await getCustomPrompt(db, org, app.user_id)) ?? undefined,
  getMember: (db, org) => getMember(db, org, app.user_id),
  forgetDefaultRepository: (db, org) => forgetDefaultRepository(db, org, mine.repo),
  insertEvent: (db, org) => insertEvent(db, org, mine.run, 'agent_run.updated', {}),
  setDefaultRepository: (db, org) => setDefaultRepository(db, org, mine.repo),
  updateOrganization: async (db, org) => {
    await expect(updateOrganization(db, org, { default_repository_id: mine.repo })).rejects.toThrow(
      /foreign key/,
    )
  },
})
