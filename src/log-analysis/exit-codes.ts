const SIGNALS: Record<number, [name: string, meaning: string]> = {
  1: ['SIGHUP', 'its terminal went away'],
  2: ['SIGINT', 'it was interrupted'],
  3: ['SIGQUIT', 'it was asked to quit'],
  4: ['SIGILL', 'it came upon an instruction that this processor does not have'],
  5: ['SIGTRAP', 'it stopped at a trap'],
  6: ['SIGABRT', 'it ended itself, as a failed assertion does'],
  7: ['SIGBUS', 'it reached for memory that is not there'],
  8: ['SIGFPE', 'it divided by zero, or the like'],
  9: ['SIGKILL', 'it was killed, as happens when the memory is used up'],
  11: ['SIGSEGV', 'it reached for memory that is not its own'],
  13: ['SIGPIPE', 'who read its output had gone'],
  14: ['SIGALRM', 'its time was over'],
  15: ['SIGTERM', 'it was asked to end'],
  24: ['SIGXCPU', 'it used up its processor time'],
  25: ['SIGXFSZ', 'it wrote a file that is larger than it may be'],
  31: ['SIGSYS', 'it made a system call that the sandbox forbids'],
}

/** Returns the meaning of an exit code. Null: it depends on the program. */
export function exitCodeMeaning(code: number): string | null {
  if (code === 124) return 'as `timeout` says it, its time was over'
  if (code === 126) return 'the program was found and cannot be executed'
  if (code === 127) return 'no such program was found'
  const signal = SIGNALS[code - 128]
  return signal ? `${signal[0]}: ${signal[1]}` : null
}

const REMEDIES: Record<number, string> = {
  124: 'Find out what it waits for, or give it more time.',
  126: 'Make it executable (`chmod +x`), or start it by its interpreter; a binary has to be for this machine.',
  127: 'Install the program, or call it by its path.',
  134: 'Look at what it says right before, and run it under a debugger.',
  137: 'Have it need less memory (fewer jobs and workers), or raise the limits of the sandbox; look too at who else may have killed it.',
  139: 'Run it under a debugger or a sanitizer; a native module of another version is a frequent cause.',
  143: 'Look at what ended it: a time-out, or a command that cleans up.',
}

/** Returns a remedy, where the exit code alone implies one. */
export const exitCodeRemedy = (code: number): string | null => REMEDIES[code] ?? null
