// Mocha's spec reporter with one plain closing line, which tools that only read the last line can count.
import Mocha from 'mocha'

export default class PlainEndReporter extends Mocha.reporters.Spec {
  constructor (runner, options) {
    super(runner, options)
    runner.once(Mocha.Runner.constants.EVENT_RUN_END, () => {
      process.stdout.write(`\n${this.stats.passes} passed, ${this.stats.failures} failed\n`)
    })
  }
}
