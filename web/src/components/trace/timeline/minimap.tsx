import {
  memo,
  type PointerEvent,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import type { RunTimeline } from '../../../../../src/contract/runs/timeline.ts'
import type { FeedViewStore } from '../../../trace/timeline/feed-view.ts'
import { type Bar, type BarColor, bars, entryAt, mapHeight } from '../../../trace/timeline/minimap.ts'
import { useMedia } from '../../../ui/media.ts'

const WIDTH_PX = 56
/** The column of the errors, at the right. */
const TICK_PX = 7

const colors: Record<BarColor | 'failed', string> = {
  user: '--color-accent',
  answer: '--color-ok',
  plan: '--color-ink',
  change: '--color-muted',
  command: '--color-faint',
  other: '--color-strong',
  failed: '--color-bad',
}

type Props = {
  timeline: RunTimeline
  total: number
  view: FeedViewStore
  /** Shows the entry at this index. */
  on_jump: (index: number) => void
}

/**
 * The whole trace beside the feed: a bar for each entry or group of entries, a tick for each failure. A click
 * or drag shows what is there.
 */
export function Minimap({ timeline, total, view, on_jump }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const height = useHeight(box)
  const { first, last } = useSyncExternalStore(view.subscribe, view.get)
  const all = useMemo(() => bars(timeline.parts, total, height), [timeline, total, height])
  const jump = (event: PointerEvent) => {
    const { top = 0 } = box.current?.getBoundingClientRect() ?? {}
    on_jump(entryAt(event.clientY - top, total, height))
  }
  const scale = mapHeight(total, height) / Math.max(1, total)
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: like the scroll bar of a box it is for pointers; keys move in the feed
    <div
      ref={box}
      role="scrollbar"
      aria-label="Minimap"
      aria-controls="trace-entries"
      aria-orientation="vertical"
      aria-valuemin={1}
      aria-valuemax={Math.max(1, total)}
      aria-valuenow={Math.min(first + 1, Math.max(1, total))}
      data-hint="Click or drag to move through the trace"
      className="relative shrink-0 cursor-pointer touch-none overflow-hidden border-line border-l bg-canvas max-sm:hidden"
      style={{ width: WIDTH_PX }}
      onPointerDown={event => {
        event.currentTarget.setPointerCapture(event.pointerId)
        jump(event)
      }}
      onPointerMove={event => event.buttons > 0 && jump(event)}
    >
      <Bars all={all} height={height} />
      <div
        aria-hidden
        data-testid="minimap-view"
        className="pointer-events-none absolute inset-x-0 top-0 rounded-xs border border-accent/70 bg-accent/10"
        style={{
          height: Math.max(4, (last - first + 1) * scale),
          transform: `translateY(${first * scale}px)`,
        }}
      />
    </div>
  )
}

const Bars = memo(function Bars({ all, height }: { all: Bar[]; height: number }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const theme = useTheme()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme decides the colors
  useEffect(() => {
    if (canvas.current) draw(canvas.current, all, height)
  }, [all, height, theme])
  return (
    <canvas
      ref={canvas}
      aria-hidden
      data-bars={all.length}
      className="absolute inset-0 size-full transition-none"
    />
  )
})

function draw(canvas: HTMLCanvasElement, all: Bar[], height: number): void {
  const context = canvas.getContext('2d')
  if (context === null) return
  const ratio = window.devicePixelRatio
  canvas.width = WIDTH_PX * ratio
  canvas.height = height * ratio
  context.scale(ratio, ratio)
  const color = paletteOf(canvas)
  for (const { top, height: length, width, color: name } of all) {
    context.fillStyle = color(name)
    const [from, to] = [Math.round(top), Math.round(top + length)]
    // Bars of some pixels are apart, thinner ones touch each other.
    context.fillRect(
      2,
      from,
      (WIDTH_PX - TICK_PX - 5) * width,
      Math.max(1, to - from - (length >= 3 ? 1 : 0)),
    )
  }
  context.fillStyle = color('failed')
  for (const { top, height: length, failed } of all) {
    context.globalAlpha = failed
    if (failed > 0) context.fillRect(WIDTH_PX - TICK_PX, top, TICK_PX, Math.max(2, length - 1))
  }
}

/**
 * The colors of the theme as the canvas needs them. It has no transitions, in which each color would begin as
 * the one before it.
 */
function paletteOf(canvas: HTMLCanvasElement): (name: keyof typeof colors) => string {
  const known = new Map<string, string>()
  return name => {
    const found = known.get(name)
    if (found !== undefined) return found
    canvas.style.color = `var(${colors[name]})`
    const color = getComputedStyle(canvas).color
    known.set(name, color)
    return color
  }
}

function useHeight(box: React.RefObject<HTMLElement | null>): number {
  const [height, setHeight] = useState(0)
  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    const observer = new ResizeObserver(() => setHeight(element.clientHeight))
    observer.observe(element)
    return () => observer.disconnect()
  }, [box])
  return height
}

/** Changes with the theme, whether it is chosen here or by the system. */
function useTheme(): string {
  const dark = useMedia('(prefers-color-scheme: dark)')
  const [chosen, setChosen] = useState(document.documentElement.dataset.theme)
  useEffect(() => {
    const observer = new MutationObserver(() => setChosen(document.documentElement.dataset.theme))
    observer.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    return () => observer.disconnect()
  }, [])
  return `${chosen} ${dark}`
}
