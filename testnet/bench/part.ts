// A part of a benchmark in a process of its own: a rival or a load generator that must not share the event loop of who
// measures. It is this very program with the command `part NAME`, asked and answered over Node's channel between parent
// and child, one task after the other. It ends when the channel does, so nothing is left when the parent is gone.

import { fork, type ChildProcess } from 'node:child_process'
import { Failure, exitCodes } from '../../node/cli/failure.ts'

/** Carries out tasks by name. Input and answer must be JSON. */
export type Tasks = Readonly<Record<string, (input: never) => Promise<unknown>>>

interface Question { readonly id: number, readonly task: string, readonly input: unknown }
interface Answer { readonly id: number, readonly value?: unknown, readonly error?: string }

interface Waiting {
  resolve (value: unknown): void
  reject (error: Error): void
}

export class Part {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, Waiting>()
  #lastId = 0

  constructor (name: string) {
    this.#child = fork(process.argv[1] as string, ['part', name], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    this.#child.on('message', (answer: Answer) => {
      const waiting = this.#waiting.get(answer.id)
      this.#waiting.delete(answer.id)
      if (answer.error === undefined) waiting?.resolve(answer.value)
      else waiting?.reject(new Failure(exitCodes.failed, `${name}: ${answer.error}`))
    })
    const ended = (): void => {
      for (const { reject } of this.#waiting.values()) reject(new Failure(exitCodes.failed, `the part ${name} of the benchmark ended early`))
      this.#waiting.clear()
    }
    this.#child.once('error', ended)
    this.#child.once('exit', ended)
  }

  get pid (): number { return this.#child.pid ?? 0 }

  async ask<Value> (task: string, input: unknown = null): Promise<Value> {
    const id = ++this.#lastId
    return await new Promise<Value>((resolve, reject) => {
      this.#waiting.set(id, { resolve: value => { resolve(value as Value) }, reject })
      this.#child.send({ id, task, input } satisfies Question)
    })
  }

  async stop (): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exited = new Promise<void>(resolve => { this.#child.once('exit', () => { resolve() }) })
    this.#child.disconnect()
    await exited
  }
}

/** The child's side. @param parts - by name, what gives the tasks of a part */
export async function servePart (name: string, parts: Readonly<Record<string, () => Promise<Tasks>>>): Promise<void> {
  if (process.send === undefined || !Object.hasOwn(parts, name)) throw new Failure(exitCodes.usage, 'parts are started by benchmarks')
  process.once('disconnect', () => { process.exit(0) })
  // On a terminal Ctrl-C comes here too; the parent says when it is over.
  process.on('SIGINT', () => {})
  const loading = parts[name]!()
  process.on('message', ({ id, task, input }: Question) => {
    const answer = async (): Promise<unknown> => await (await loading)[task]!(input as never)
    answer().then(value => { process.send?.({ id, value }) }, (error: unknown) => { process.send?.({ id, error: (error as Error).stack ?? String(error) }) })
  })
  await loading
}
