import { expect, test } from 'vitest'
import { awaitEnd, createRun } from '../await-run.ts'
import { responses, startCodingApp } from '../coding-app.ts'

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

test('an image of the prompt reaches the model as it was sent', async () => {
  await using app = await startCodingApp(responses({ text: 'One pixel.' }))
  const { id } = await createRun(app, { prompt: 'What is this?', images: [PIXEL] })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed' })
  expect(JSON.stringify(app.model.requests[0]?.body)).toContain(PIXEL)
})
