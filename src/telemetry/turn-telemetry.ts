import { toolInputs } from '../contract/runs/tools.ts'
import type { Instruments } from './instruments.ts'
import type { ModelCall, TurnFacts, TurnTelemetry } from './port.ts'
import type { Attributes, Tracer } from './tracer.ts'

/** Names of providers as OpenTelemetry knows them; a compatible server speaks OpenAI's protocol. */
const providers: Record<string, string> = { google: 'gcp.gemini', 'openai-compatible': 'openai' }
/** A model may ask for any name: what is not a tool of ours is counted together. */
const toolName = (name: string) => (Object.hasOwn(toolInputs, name) ? name : 'unknown')
const seconds = (ms: number) => ms / 1_000

/**
 * Reports one turn of a run on this worker: `invoke_agent`, and below it `chat` for each call of a model and
 * `execute_tool` for each tool.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: lists one observer per event of a turn over shared counters
export function turnTelemetry(
  instruments: Instruments,
  tracer: Tracer | null,
  turn: TurnFacts,
): TurnTelemetry {
  const began = performance.now()
  const provider = turn.model.split('/')[0] ?? ''
  const model = turn.model.slice(provider.length + 1)
  const common = {
    'gen_ai.provider.name': providers[provider] ?? provider,
    'gen_ai.request.model': model,
    'gen_ai.conversation.id': String(turn.run_id),
  }
  const total = { input: 0, output: 0, cached: 0 }
  const agent = tracer?.begin({
    name: `invoke_agent ${turn.agent_type}`,
    kind: 'internal',
    parent: turn.traceparent,
    attributes: {
      ...common,
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': turn.agent_type,
      'agentrun.run_id': turn.run_id,
      'agentrun.organization_id': turn.organization_id,
      'agentrun.turn': turn.turn,
      'agentrun.epoch': turn.epoch,
      ...(turn.recovered && { 'agentrun.recovered': turn.recovered }),
    },
  })
  instruments.claims.inc()
  instruments.turns.inc()
  if (turn.recovered) instruments.recoveries.inc({ cause: turn.recovered })
  return {
    modelCalled(call) {
      instruments.model_calls.inc({ provider, outcome: call.outcome })
      instruments.model_time.observe({ provider }, seconds(call.ended_at - call.began_at))
      for (const [type, tokens] of Object.entries({
        input: call.input_tokens,
        output: call.output_tokens,
        cached: call.cached_tokens,
      }))
        instruments.model_tokens.inc({ provider, type }, tokens)
      total.input += call.input_tokens
      total.output += call.output_tokens
      total.cached += call.cached_tokens
      tracer
        ?.begin({
          name: `chat ${model}`,
          kind: provider === 'scripted' ? 'internal' : 'client',
          parent: agent?.traceparent ?? null,
          began_at: call.began_at,
          attributes: { ...common, ...chatAttributes(call) },
        })
        .end(call.outcome === 'ok' ? null : call.outcome, call.ended_at)
    },
    modelRetried: code => instruments.model_retries.inc({ provider, code }),
    toolEnded({ name, call_id, status, began_at, ended_at }) {
      const tool = toolName(name)
      instruments.tool_calls.inc({ tool, status })
      instruments.tool_time.observe({ tool }, seconds(ended_at - began_at))
      tracer
        ?.begin({
          name: `execute_tool ${tool}`,
          kind: 'internal',
          parent: agent?.traceparent ?? null,
          began_at,
          attributes: {
            'gen_ai.operation.name': 'execute_tool',
            'gen_ai.tool.name': tool,
            'gen_ai.tool.type': 'function',
            'gen_ai.tool.call.id': call_id,
            'gen_ai.conversation.id': String(turn.run_id),
          },
        })
        .end(status === 'ok' ? null : status, ended_at)
    },
    stepTook: ms => instruments.step_overhead.observe(seconds(ms)),
    ended({ outcome, reason }) {
      instruments.turns.dec()
      instruments.turns_ended.inc({ outcome, reason: reason ?? '' })
      instruments.turn_time.observe({ outcome }, seconds(performance.now() - began))
      if (total.input > 0) instruments.cached_ratio.observe({ provider }, total.cached / total.input)
      if (outcome === 'lost') instruments.leases_lost.inc()
      agent?.set({
        'gen_ai.usage.input_tokens': total.input,
        'gen_ai.usage.output_tokens': total.output,
        'gen_ai.usage.cache_read.input_tokens': total.cached,
        'agentrun.outcome': outcome,
      })
      agent?.end(outcome === 'failed' || outcome === 'lost' ? (reason ?? outcome) : null)
    },
  }
}

function chatAttributes(call: ModelCall): Attributes {
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.stream': true,
    'gen_ai.request.max_tokens': call.max_tokens,
    ...(call.first_piece_ms !== null && {
      'gen_ai.response.time_to_first_chunk': seconds(call.first_piece_ms),
    }),
    ...(call.finish_reason !== null && { 'gen_ai.response.finish_reasons': [call.finish_reason] }),
    ...(call.outcome === 'ok' && {
      'gen_ai.usage.input_tokens': call.input_tokens,
      'gen_ai.usage.output_tokens': call.output_tokens,
      'gen_ai.usage.cache_read.input_tokens': call.cached_tokens,
    }),
    ...(call.http_status !== null && { 'http.response.status_code': call.http_status }),
  }
}
