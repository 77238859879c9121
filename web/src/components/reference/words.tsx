/** A sentence of the document. Text between backticks is code. */
export const Words = ({ text }: { text: string }) =>
  text.split(/`([^`]+)`/).map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      // The parts of a fixed text keep their order.
      // biome-ignore lint/suspicious/noArrayIndexKey: see above
      <code key={index} className="font-mono">
        {part}
      </code>
    ),
  )
