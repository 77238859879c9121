import { parentPort, workerData } from 'node:worker_threads'
import { mentions } from '../core/forges/forge-event.ts'

const { markdown, name } = workerData as { markdown: string; name: string }
parentPort?.postMessage(mentions(markdown, name))
