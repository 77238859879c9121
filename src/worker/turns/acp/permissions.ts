import { createHash } from 'node:crypto'
import { canonicalJson, isShownWhole } from '../../../acp/call-request.ts'
import type { PermissionDecision } from '../../../acp/permission.ts'
import type { AgentToolCall } from '../../../acp/updates.ts'
import type { AgentPermissions } from '../../../contract/organizations/agent-permissions.ts'
import type { UpdateRecorder } from './record-updates.ts'

type Permissions = {
  policy: AgentPermissions
  /**
   * Takes the approval of a call. Resolves with false when there is none of this digest: each permits one
   * call.
   */
  takeApproval(digest: string): Promise<boolean>
  recorder: UpdateRecorder
  /** Whether a person must decide about another call first. */
  waits(): boolean
  /** Called when a person must decide: the prompt ends, and the run waits without a process of the agent. */
  onWait(digest: string): void
}

/** Returns a function that decides about requests of an agent for permissions. One call waits at a time. */
export function createPermissions({ policy, takeApproval, recorder, waits, onWait }: Permissions) {
  return async (request: Record<string, unknown>): Promise<PermissionDecision> => {
    if (policy === 'ask' && waits()) return 'wait'
    // Some agents describe a call only here.
    const call = await recorder.requested(request)
    if (policy !== 'ask') return policy
    if (call === null) return 'deny'
    if (!isShownWhole(call.request)) {
      await recorder.refuse(call, TOO_LONG)
      return 'deny'
    }
    const digest = digestOf(call)
    if (await takeApproval(digest)) return 'allow'
    if (waits()) return 'wait'
    recorder.awaitApproval(call, digest)
    onWait(digest)
    return 'wait'
  }
}

const TOO_LONG =
  'It was not permitted: its title, input or content is too long to be shown, and nobody can approve what is not shown.'

/** As many as the id of a commit has, for which a request may also name an approval. */
const DIGEST_DIGITS = 40

/** The same call of another process of the agent has the same digest. */
function digestOf({ name, request }: AgentToolCall): string {
  return createHash('sha256')
    .update(canonicalJson([name, request]))
    .digest('hex')
    .slice(0, DIGEST_DIGITS)
}
