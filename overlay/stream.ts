// A stream of rows with backpressure: what `pull` gives and handlers of bulk yield.

export type Source<Row> = AsyncIterable<Row>
