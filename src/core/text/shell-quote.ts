/** Quotes a text as one word of a bash command line. */
export const shellQuote = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`
