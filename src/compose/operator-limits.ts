import type { Config } from '../config.ts'
import type { OperatorLimit } from '../service/context.ts'

type Unit = OperatorLimit['unit']
type Per = OperatorLimit['per']

/** Returns the limits of the configuration that bound runs and requests, for the people whom they bound. */
export function operatorLimits(config: Config): OperatorLimit[] {
  const limit = (setting: keyof Config & string, unit: Unit, per: Per, summary: string): OperatorLimit => {
    const value = config[setting]
    const name = setting.replace(/^AGENTRUN_/, '').toLowerCase()
    return {
      name,
      summary,
      value: typeof value === 'number' ? value : null,
      unit,
      per,
      window_seconds: null,
      setting,
    }
  }
  const rate = (setting: keyof Config & string, per: Per, summary: string): OperatorLimit => {
    const { requests, seconds } = (config[setting] ?? {}) as { requests?: number; seconds?: number }
    return {
      ...limit(setting, 'requests', per, `${summary} Further requests get 429.`),
      value: requests ?? null,
      window_seconds: seconds ?? null,
    }
  }
  return [
    rate('AGENTRUN_LIMIT_STANDARD', 'token', 'Requests without a limit of their own.'),
    rate('AGENTRUN_LIMIT_AGENT_CREATION', 'token', 'Runs that are created or resumed.'),
    rate('AGENTRUN_LIMIT_SETUP_COMMANDS', 'organization', 'Detections of setup commands.'),
    rate('AGENTRUN_LIMIT_LOG_ANALYSIS', 'organization', 'Analyses of logs.'),
    rate('AGENTRUN_LIMIT_TOOL_EXECUTION', 'user', 'Single tool calls and tests of models.'),
    rate('AGENTRUN_LIMIT_RECORDING', 'token', 'Reports of recorded sessions.'),
    rate('AGENTRUN_LIMIT_TOKEN_TOTAL', 'token', 'All requests, before those for logs are refused.'),
    limit('AGENTRUN_QUEUE_MAX_SECONDS', 'seconds', 'run', 'Time in the queue; then the run fails.'),
    limit(
      'AGENTRUN_ANSWER_MAX_SECONDS',
      'seconds',
      'run',
      'Time that a run waits for an answer; then it fails.',
    ),
    limit('AGENTRUN_RUN_MAX_STEPS', 'steps', 'turn', 'Responses of the model; then the run fails.'),
    limit(
      'AGENTRUN_RUN_MAX_TOKENS',
      'tokens',
      'turn',
      'Tokens; cached ones count a tenth. Then the run fails.',
    ),
    limit('AGENTRUN_RUN_MAX_ACTIVE_SECONDS', 'seconds', 'turn', 'Time of work; then the run fails.'),
    limit('AGENTRUN_RUN_MAX_WALL_SECONDS', 'seconds', 'turn', 'Time with waiting; then the run fails.'),
    limit('AGENTRUN_SETUP_MAX_SECONDS', 'seconds', 'run', 'All setup commands together.'),
    limit('AGENTRUN_TOOL_MAX_SECONDS', 'seconds', 'run', 'One command of an agent.'),
    limit(
      'AGENTRUN_SANDBOX_MEMORY_BYTES',
      'bytes',
      'sandbox',
      "Memory; without a value half of the worker's, at most 4 GiB.",
    ),
    limit('AGENTRUN_SANDBOX_DISK_BYTES', 'bytes', 'sandbox', 'Files of a sandbox.'),
    limit('AGENTRUN_EGRESS_MAX_BYTES', 'bytes', 'sandbox', 'Bytes that it sends and receives.'),
  ]
}
