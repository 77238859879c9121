/** One word of a bash command line, whatever stands in it. */
export const shellQuote = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`
