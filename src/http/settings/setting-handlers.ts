import type { EndpointName, Endpoints, HandlerInput, HandlerResult } from '../../contract/endpoints.ts'
import type { Context } from '../../service/context.ts'
import { deleteMcpServer, listMcpServers, setMcpServer } from '../../service/organizations/mcp-servers.ts'
import { finishMcpSignIn, getMcpSignIn, startMcpSignIn } from '../../service/organizations/mcp-sign-in.ts'
import { deleteSkill, getSkill, listSkills, setSkill } from '../../service/organizations/skills.ts'
import { deleteSecret, listSecrets, setSecret } from '../../service/secrets/secrets.ts'

type Handler<N extends EndpointName> = (
  ctx: Context,
  input: HandlerInput<Endpoints[N]>,
) => Promise<HandlerResult<Endpoints[N]>>
type Names = Extract<
  EndpointName,
  `${string}${'Skill' | 'Skills' | 'Secret' | 'Secrets' | 'McpServer' | 'McpServers'}` | `${string}McpSignIn`
>

/** What the runs of an organization, or of a repository, get in addition to their tasks. */
export const setting_handlers: { [N in Names]: Handler<N> } = {
  listSecrets: (ctx, { query }) => listSecrets(ctx, null, query),
  setSecret: (ctx, { params, body }) => setSecret(ctx, null, params.name, body),
  deleteSecret: (ctx, { params }) => deleteSecret(ctx, null, params.name),
  listRepositorySecrets: (ctx, { params, query }) => listSecrets(ctx, params.repo_id, query),
  setRepositorySecret: (ctx, { params, body }) => setSecret(ctx, params.repo_id, params.name, body),
  deleteRepositorySecret: (ctx, { params }) => deleteSecret(ctx, params.repo_id, params.name),
  listSkills: (ctx, { query }) => listSkills(ctx, query),
  getSkill: (ctx, { params }) => getSkill(ctx, params.skill),
  setSkill: (ctx, { params, body }) => setSkill(ctx, params.skill, body),
  deleteSkill: (ctx, { params }) => deleteSkill(ctx, params.skill),
  listMcpServers: (ctx, { query }) => listMcpServers(ctx, null, query),
  setMcpServer: (ctx, { params, body }) => setMcpServer(ctx, null, params.server, body),
  deleteMcpServer: (ctx, { params }) => deleteMcpServer(ctx, null, params.server),
  startMcpSignIn: (ctx, { params }) => startMcpSignIn(ctx, null, params.server),
  listRepositoryMcpServers: (ctx, { params, query }) => listMcpServers(ctx, params.repo_id, query),
  setRepositoryMcpServer: (ctx, { params, body }) => setMcpServer(ctx, params.repo_id, params.server, body),
  deleteRepositoryMcpServer: (ctx, { params }) => deleteMcpServer(ctx, params.repo_id, params.server),
  startRepositoryMcpSignIn: (ctx, { params }) => startMcpSignIn(ctx, params.repo_id, params.server),
  getMcpSignIn: (ctx, { query }) => getMcpSignIn(ctx, query.state),
  finishMcpSignIn: (ctx, { body }) => finishMcpSignIn(ctx, body),
}
