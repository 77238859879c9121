export type Attributes = Record<string, string | number | boolean | string[]>

/** `parent` is a traceparent. `began_at`: wall clock, in milliseconds; now when it is left out. */
type SpanFacts = {
  name: string
  kind: 'internal' | 'server' | 'client'
  parent: string | null
  attributes: Attributes
  began_at?: number
}

type Span = {
  /** Names this span to what runs below it, in this process or another. */
  readonly traceparent: string
  rename(name: string): void
  set(attributes: Attributes): void
  /** `error`: a code, when it failed. */
  end(error: string | null, ended_at?: number): void
}

/** Takes spans and sends them somewhere. Nothing of it throws or waits; what cannot be sent is dropped. */
export type Tracer = { begin(span: SpanFacts): Span }
