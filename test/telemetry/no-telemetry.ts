import { createInstruments } from '../../src/telemetry/instruments.ts'
import { createTelemetry } from '../../src/telemetry/telemetry.ts'

/** For what is built without a whole service: counted, and never read. */
export const noTelemetry = () => createTelemetry(createInstruments(), null)
