/** A kind of credential that is recognized by its text. */
export type Shape = {
  name: string
  /** What a match begins with, literally: a text without any of them is not searched. */
  marks: string[]
  /** Reads a text once: bounded repetitions after a mark. */
  pattern: RegExp
  /** The group that is the secret, if not the whole match. One character follows it. */
  part?: number
  unless?: (found: string, match: RegExpMatchArray) => boolean
}
