const SIGNALS: Record<number, [name: string, meaning: string]> = {
  1: ['SIGHUP', 'its terminal went away'],
  2: ['SIGINT', 'it was interrupted'],
  3: ['SIGQUIT', 'it received a request to quit'],
  4: ['SIGILL', 'it ran an instruction that this processor does not support'],
  5: ['SIGTRAP', 'it stopped at a trap'],
  6: ['SIGABRT', 'it aborted itself, for example after a failed assertion'],
  7: ['SIGBUS', 'it accessed memory that does not exist'],
  8: ['SIGFPE', 'an arithmetic error such as a division by zero'],
  9: ['SIGKILL', 'it was killed, for example because the memory was used up'],
  11: ['SIGSEGV', 'it accessed memory that is not its own'],
  13: ['SIGPIPE', 'the reader of its output had ended'],
  14: ['SIGALRM', 'its timer expired'],
  15: ['SIGTERM', 'it received a request to end'],
  24: ['SIGXCPU', 'it used up its processor time'],
  25: ['SIGXFSZ', 'it wrote a file above the size limit'],
  31: ['SIGSYS', 'it made a system call that the sandbox forbids'],
}

/** Returns the meaning of an exit code. Null: it depends on the program. */
export function exitCodeMeaning(code: number): string | null {
  if (code === 124) return 'the time limit of `timeout` was exceeded'
  if (code === 126) return 'the program was found and cannot be executed'
  if (code === 127) return 'no such program was found'
  const signal = SIGNALS[code - 128]
  return signal ? `${signal[0]}: ${signal[1]}` : null
}

const REMEDIES: Record<number, string> = {
  124: 'Determine what it waits for, or give it more time.',
  126: 'Make it executable (`chmod +x`), or start it by its interpreter; a binary has to be for this machine.',
  127: 'Install the program, or call it by its path.',
  134: 'Read the output directly before it, and run it under a debugger.',
  137: 'Reduce its memory (fewer jobs and workers), or raise the limits of the sandbox; check also which other process may have killed it.',
  139: 'Run it under a debugger or a sanitizer; a native module of another version is a frequent cause.',
  143: 'Determine what ended it: a timeout, or a command that cleans up.',
}

/** Returns a remedy, where the exit code alone implies one. */
export const exitCodeRemedy = (code: number): string | null => REMEDIES[code] ?? null
