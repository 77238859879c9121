/**
 * Loaded into a process before the service: `JSON.parse` of a text with "occupy N seconds" occupies its thread for so long, once, as an
 * expensive text does. All of it uses the processor, also on a busy machine.
 */
const MIN_CPU_MS = 2_500
const { parse } = JSON
const done = new Set<string>()

JSON.parse = (text, reviver) => {
  const [words, seconds] = /occupy (\d+) seconds/.exec(text) ?? []
  if (words !== undefined && !done.has(words)) {
    done.add(words)
    const [until, before] = [performance.now() + Number(seconds) * 1_000, process.cpuUsage()]
    const cpuMs = () => {
      const { user, system } = process.cpuUsage(before)
      return (user + system) / 1_000
    }
    while (performance.now() < until || cpuMs() < MIN_CPU_MS);
  }
  return parse(text, reviver)
}
