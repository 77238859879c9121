import type { CDPSession, Page } from 'playwright-core'

const SECONDS = 4
/** Of a wheel event: a person who flings the wheel, about thirty screens in a second. */
const WHEEL_PX = 450

/** `main_thread_ms`: processor time of the page's main thread for a frame. */
type Frames = { per_second: number; main_thread_ms: number }

/**
 * Turns the wheel upwards and downwards above the middle of the page, and counts the frames that the page
 * renders meanwhile.
 */
export async function scrollFrames(page: Page, tools: CDPSession): Promise<Frames> {
  await tools.send('Performance.enable', { timeDomain: 'threadTicks' })
  const busy = await taskSeconds(tools)
  await page.mouse.move(600, 500)
  await page.evaluate(`
    window.frames_ = []
    window.count_ = at => { window.frames_.push(at); window.handle_ = requestAnimationFrame(window.count_) }
    requestAnimationFrame(window.count_)`)
  const end = performance.now() + SECONDS * 1_000
  for (let n = 0; performance.now() < end; n++) await page.mouse.wheel(0, n % 160 < 80 ? -WHEEL_PX : WHEEL_PX)
  const frames = await page.evaluate<number[]>('cancelAnimationFrame(window.handle_), window.frames_')
  const count = frames.length - 1
  const seconds = ((frames.at(-1) ?? 0) - (frames[0] ?? 0)) / 1_000
  return {
    per_second: count / seconds,
    main_thread_ms: ((await taskSeconds(tools)) - busy) * (1_000 / count),
  }
}

async function taskSeconds(tools: CDPSession): Promise<number> {
  const { metrics } = await tools.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN
}
