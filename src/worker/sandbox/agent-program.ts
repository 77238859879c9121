import type { AgentPermissions } from '../../contract/organizations/agent-permissions.ts'
import { agentFolder, type RegisteredAgent } from '../../core/agents/registered-agents.ts'
import { errorText } from '../../core/log.ts'
import { GATEWAY_PORT, GATEWAY_SOCKET } from '../../core/sandbox-environment.ts'
import type { Gateway } from '../../egress/proxy-configuration.ts'
import { listenOnSocket } from '../../egress/socket.ts'
import { createModelGateway } from '../../gateway/gateway.ts'
import type { GatewayMeter } from '../../gateway/meter.ts'
import type { ToolServers } from '../../gateway/tool-request.ts'
import type { Model, ModelEndpoint } from '../../model/port.ts'
import type { SandboxSpec } from '../../sandbox/port.ts'
import type { WorkerServices } from '../services.ts'

/**
 * What a sandbox has in addition for an agent of another vendor. `connect`: from now on its model calls are
 * planned and recorded by this meter, and these MCP servers respond at `tool_address`. `disconnect`: closes
 * all connections of the sandbox to the gateway, and resolves when what they requested is recorded.
 */
export type AgentProgram = Required<Pick<SandboxSpec, 'sockets' | 'environment' | 'read_only'>> & {
  command: string
  permissions: AgentPermissions
  continues: RegisteredAgent['continues']
  gateway: Gateway
  connect(meter: GatewayMeter, tools: ToolServers): void
  disconnect(): Promise<void>
  tool_address(server: string): string
} & AsyncDisposable

const not_connected: GatewayMeter = {
  start: async () => ({ refused: 'The agent is not running.' }),
  ended: async () => {},
  dropped: async () => {},
  refused() {},
  refusal: () => 'The agent is not running.',
  reachedLimit: () => null,
  progressed() {},
}

/**
 * Opens the model gateway of one sandbox, and returns what its agent needs to run there. Disposing closes all
 * connections.
 */
export async function openAgentProgram(
  deps: Pick<WorkerServices, 'egress' | 'log' | 'models' | 'model_timeouts' | 'compact_tokens' | 'users'>,
  agent: RegisteredAgent,
  permissions: AgentPermissions,
  model: Model & { endpoint: ModelEndpoint },
): Promise<AgentProgram> {
  const { endpoint, context_tokens, max_output_tokens } = model
  let current = not_connected
  let tools: ToolServers = async () => null
  const gateway = createModelGateway({
    endpoint,
    timeouts: deps.model_timeouts,
    meter: {
      start: request => current.start(request),
      ended: (call, end) => current.ended(call, end),
      dropped: types => current.dropped(types),
      refused: (error, has_tools) => current.refused(error, has_tools),
      refusal: () => current.refusal(),
      reachedLimit: () => current.reachedLimit(),
      progressed: () => current.progressed(),
    },
    tools: (server, request) => tools(server, request),
    onFailure: error => deps.log('error', 'a call of the model gateway failed', { error: errorText(error) }),
  })
  try {
    const socket = await listenOnSocket(gateway.server, deps.egress.folder, deps.users.sandbox?.gid ?? null)
    const address = { host: '127.0.0.1', port: GATEWAY_PORT }
    const called = {
      gateway: `http://${address.host}:${address.port}`,
      api: endpoint.api,
      name: endpoint.name,
      context_tokens,
      max_output_tokens,
    }
    const { command, environment } = agent.start(called, permissions)
    return {
      command,
      permissions,
      continues: agent.continues,
      sockets: [{ host: socket.path, inside: GATEWAY_SOCKET, port: GATEWAY_PORT }],
      gateway: { ...address, socket: socket.path },
      environment,
      read_only: agent.folder === null ? [] : [{ host: agent.folder, inside: agentFolder(agent.id) }],
      tool_address: server => `${called.gateway}/mcp/${server}`,
      connect(meter, servers) {
        current = meter
        tools = servers
      },
      disconnect: () => gateway.disconnect(),
      async [Symbol.asyncDispose]() {
        gateway.close()
        socket.remove()
      },
    }
  } catch (error) {
    gateway.close()
    throw error
  }
}
