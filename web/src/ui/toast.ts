type Message = { id: number; text: string; tone: 'ok' | 'bad' }

const listeners = new Set<() => void>()
let messages: Message[] = []
let last_id = 0

function change(next: Message[]): void {
  messages = next
  for (const listener of listeners) listener()
}

/**
 * Announces briefly that something was done, or failed, where the page does not show it by itself. Shown for
 * five seconds.
 */
export function notify(text: string, tone: Message['tone'] = 'ok'): void {
  last_id += 1
  change([...messages, { id: last_id, text, tone }])
}

export const dismiss = (id: number): void => change(messages.filter(message => message.id !== id))

export const currentMessages = (): Message[] => messages

/** Whether there ever was a message. */
export const hadMessages = (): boolean => last_id > 0

/** Calls the listener after each change, until the result is called. */
export function onMessages(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
