import { type EventReader, eventOf } from './event-lines.ts'
import { readableUsage } from './readable-usage.ts'

/** Reads the events of generateContent: usage becomes readable. */
export function geminiEvents(): EventReader {
  return {
    change(data) {
      const event = data.includes('"usageMetadata"') ? eventOf(data) : null
      return event && { ...event, usageMetadata: readableUsage(event.usageMetadata) }
    },
  }
}
