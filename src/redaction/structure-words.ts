/**
 * Words by which the service and clients of models parse what is stored: a journal without them cannot be
 * read. A secret that equals one of them, or a part of one, is ignored: they occur in every trace.
 */
const STRUCTURE_WORDS = `
  assistant developer function tool-call tool-result tool-error tool-approval-request tool-approval-response toolCallId toolName tool_calls
  call_id reasoning error-text error-json execution-denied providerOptions providerMetadata providerExecuted mediaType input_text
  output_text arguments messages reservation ends_turn compaction clear_through keep_from model_started model_failed model_answered tool_started tool_finished
  compacted recovered commit_started push_started question service_action message_type tool_name tool_input tool_output artifact_url
  observation duration_ms exit_code redactions truncated output_bytes shell_restarted
  starting cancelling cancelled completed interrupted timed_out answered
`

/** Returns whether a text is part of one of those words. */
export const isStructure = (text: string): boolean => !/\s/.test(text) && STRUCTURE_WORDS.includes(text)
