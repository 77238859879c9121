import { limits } from '../../contract/limits.ts'
import type { JsonBounds } from './json-meter.ts'

const MIB = 1024 * 1024

/**
 * The bounds of every channel that brings JSON from outside. What follows the parser costs 1 to 50
 * microseconds per value, schemas of libraries the most, because they describe each wrong value: a message
 * must not occupy the process for longer than a few tenths of the permitted 250 ms.
 */
export const json_channels = {
  /** Bodies of the API and of sign-in; most routes accept fewer bytes. */
  api_body: { bytes: limits.body_bytes, depth: limits.body_depth, values: limits.body_values },
  /**
   * A delivery of a forge, which is parsed after its signature was verified: a push lists the files of 2,048
   * commits.
   */
  forge_delivery: { bytes: limits.body_bytes, depth: limits.body_depth, values: 200_000 },
  /** A response of a forge: a page of 100 pull requests has some 50,000 values. */
  forge_response: { bytes: 32 * MIB, depth: 64, values: 150_000 },
  /** A request to a model: conversations of an agent with thousands of messages, tools and pictures. */
  gateway_request: { bytes: 32 * MIB, depth: 100, values: 100_000 },
  /** A message of an agent of another vendor. No schema of a library sees it. */
  agent_message: { bytes: 8 * MIB, depth: 100, values: 50_000 },
  /** A message of an MCP server. The schemas of the SDK see only its parts that are read. */
  mcp_message: { bytes: 8 * MIB, depth: 100, values: 100_000 },
  /** A message of an MCP client in a sandbox. */
  mcp_request: { bytes: MIB, depth: 64, values: 20_000 },
  /** Metadata, registrations and tokens of an authorization server. */
  oauth_response: { bytes: MIB, depth: 32, values: 2_000 },
  /** One event of a model, which the SDK checks by its schemas. */
  model_event: { bytes: 2 * MIB, depth: 100, values: 3_000 },
  /** An event that repeats the request or the whole response, of which a few fields are read. */
  model_summary: { bytes: 8 * MIB, depth: 100, values: 100_000 },
  /** A response without a stream: only its usage is read. */
  model_response: { bytes: 16 * MIB, depth: 100, values: 100_000 },
  /** An error of a model, and what it quotes. */
  model_error: { bytes: 256 * 1024, depth: 64, values: 10_000 },
  /** A response of the engine of containers, or of the API of a cluster. */
  engine_response: { bytes: 64 * MIB, depth: 100, values: 500_000 },
  /** A file of a repository. */
  repository_file: { bytes: 8 * MIB, depth: 64, values: 50_000 },
  /** An error, an event or a report that a client of the service receives. */
  client_response: { bytes: 64 * MIB, depth: 100, values: 500_000 },
  /** A setting in a file or variable, and what a command line reads. */
  setting: { bytes: 8 * MIB, depth: 64, values: 50_000 },
} as const satisfies Record<string, JsonBounds>

export type JsonChannel = keyof typeof json_channels
