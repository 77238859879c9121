import { afterEach, beforeEach, expect, vi } from 'vitest'

/** Every later test of the file fails when anything is printed, to any stream. */
export function forbidOutput(): void {
  const printed = vi.fn()
  beforeEach(() => {
    for (const stream of [process.stdout, process.stderr])
      vi.spyOn(stream, 'write').mockImplementation(text => printed(text) ?? true)
    for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const)
      vi.spyOn(console, method).mockImplementation(printed)
    vi.spyOn(process, 'emitWarning').mockImplementation(printed)
  })
  afterEach(() => {
    vi.restoreAllMocks()
    expect(printed.mock.calls.splice(0), 'a model prints nothing').toEqual([])
  })
}
