/** The modifier of shortcuts as this platform writes it. */
export const command_key = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl'

/** The time within which the second key must follow `g`. */
export const CHORD_TIMEOUT_MS = 1500
