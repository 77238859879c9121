import { record } from '../refusal-body.ts'
import { type EventReader, eventOf, type ModelEvent, text } from './event-lines.ts'
import { readableUsage } from './readable-usage.ts'

/**
 * Reads the events of generateContent: usage becomes readable, and what nothing reads, such as ratings and
 * sources, is left out.
 */
export function geminiEvents(): EventReader {
  return {
    change(data) {
      const event = eventOf(data)
      if (event === null || event.error != null) return null
      return {
        ...(Array.isArray(event.candidates) && { candidates: event.candidates.map(candidateOf) }),
        ...(event.promptFeedback != null && {
          promptFeedback: { blockReason: text(record(event.promptFeedback).blockReason) },
        }),
        usageMetadata: readableUsage(event.usageMetadata),
        responseId: text(event.responseId),
      }
    },
  }
}

function candidateOf(value: unknown): ModelEvent {
  const { content, finishReason, finishMessage, continuationToken } = record(value)
  const reason = typeof finishReason === 'number' ? `${finishReason}` : text(finishReason)
  return {
    content,
    finishReason: reason,
    finishMessage: text(finishMessage),
    continuationToken: text(continuationToken),
  }
}
