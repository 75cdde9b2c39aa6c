// What any Host must do, run on the libp2p host and on the simulated one: protocol code relies on nothing else.

import type { Host } from '../../overlay/host.ts'
import { calls } from './host-calls.ts'
import { endings } from './host-endings.ts'
import type { HostFixture } from './host-messages.ts'
import { pulls } from './host-pulls.ts'
import { time } from './host-time.ts'

/** Two connected hosts for each test, or as many as it asks for. */
export function hostConformance (name: string, make: (count: number) => Promise<HostFixture>): void {
  describe(`the ${name} host`, () => {
    let fixture: HostFixture
    const test = (title: string, body: (a: Host, b: Host, c: Host) => Promise<void>, count = 2): void => {
      it(title, async () => {
        fixture = await make(count)
        try {
          const [a, b, c] = fixture.hosts
          await fixture.settle(body(a!, b!, c!))
        } finally {
          await fixture.close()
        }
      })
    }
    calls(test)
    endings(test, () => fixture)
    pulls(test, () => fixture)
    time(test)
  })
}
