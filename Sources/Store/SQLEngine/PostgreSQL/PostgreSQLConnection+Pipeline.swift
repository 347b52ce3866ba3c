import CPostgreSQL

// Statements whose results nobody reads are sent without waiting for earlier ones (libpq's pipeline
// mode). Their errors appear when the connection next waits for a result, at the latest at the
// commit, which is also sent through the pipeline.
extension PostgreSQLConnection {
  /// The most statements that are sent and not yet answered. The system's buffers can hold the
  /// server's answers to this many statements until the answers are read.
  private static let pipelineLimit = 256

  package func runLater(_ statement: Statement, _ arguments: [SQLValue]) throws {
    let known = try pass(statement)
    try self.arguments.set(arguments)
    try sendLater(known)
  }

  package func runLater(_ query: RowQuery) throws {
    let known = try pass(query.statement)
    try set(query)
    try sendLater(known)
  }

  private static let (rowLimit, byteLimit) = (1_024, 4 << 20)

  package func runLater(_ statement: RowStatement, rows: borrowing SQLArguments) throws {
    let count = rows.count / statement.kinds.count
    if let gate, gate.runsRowByRow {
      let known = try pass(statement.one)
      for row in 0..<count {
        try arguments.set(rows, from: row * statement.kinds.count, count: statement.kinds.count)
        try sendLater(known)
      }
      return
    }
    let known = try pass(statement.all)
    var next = 0
    while next < count {
      var end = min(count, next + Self.rowLimit)
      // Rows of more than the average size can exceed the limit by little.
      let bytes = rows.memory.count / count * (end - next)
      if bytes > Self.byteLimit { end = next + max(1, (end - next) * Self.byteLimit / bytes) }
      try arguments.set(columnsOf: rows, statement.kinds, next..<end)
      try sendLater(known)
      next = end
    }
  }

  package func beginWriting(
    with queries: [RowQuery], _ visit: (_ query: Int, any SQLRow) throws -> Void
  ) throws {
    try begin {
      // What is new to the session is prepared first, outside of the pipeline.
      let known = queries.map { self.known($0.statement) }
      for (query, statement) in zip(queries, known) where !statement.isPrepared {
        try set(query)
        try prepare(statement)
      }
      try sendAlone("BEGIN")
      for (query, statement) in zip(queries, known) {
        try set(query)
        try sendLater(statement)
      }
      try settle { statement, result in
        guard statement > 0, PQntuples(result) > 0 else { return }
        let row = PostgreSQLRow(columnsOf: result)
        for index in 0..<PQntuples(result) {
          row.stand(on: index, of: result)
          try visit(statement - 1, row)
        }
      }
    }
  }

  func set(_ query: RowQuery) throws {
    try arguments.set(
      columnsOf: query.rows, query.kinds,
      0..<(query.kinds.isEmpty ? 0 : query.rows.count / query.kinds.count))
  }

  private func sendAlone(_ text: String) throws {
    try beginPipeline(text)
    guard PQsendQueryParams(handle, text, 0, nil, nil, nil, nil, 1) == 1 else {
      throw failure(nil, text)
    }
    pipeline.append(text)
  }

  private func sendLater(_ statement: PostgreSQLStatement) throws {
    if pipeline.count >= Self.pipelineLimit || !statement.isPrepared { try settle() }
    try prepare(statement)
    try beginPipeline(statement.text)
    let isSent = arguments.withPointers(first: statement.argumentCount) {
      PQsendQueryPrepared(handle, statement.name, $0, $1, $2, $3, 1)
    }
    guard isSent == 1 else { throw failure(nil, statement.text) }
    pipeline.append(statement.text)
    exchange.sent(arguments.byteCount)
  }

  private func beginPipeline(_ text: String) throws {
    guard pipeline.isEmpty else { return }
    guard PQenterPipelineMode(handle) == 1 else { throw failure(nil, text) }
  }

  /// Waits for all statements, and returns the commit's command tag, such as `ROLLBACK`.
  func commitPipeline() throws -> String {
    try sendAlone("COMMIT")
    return try settle()
  }

  /// Waits for all statements, and returns the command tag of the last one; empty if there were
  /// none.
  ///
  /// - Throws: the error of the first failed statement. The statements after it were not executed.
  @discardableResult
  package func settle(
    _ visit: (_ statement: Int, _ result: OpaquePointer) throws -> Void = { _, _ in }
  ) throws -> String {
    guard !pipeline.isEmpty else { return "" }
    let statements = pipeline
    pipeline.removeAll(keepingCapacity: true)
    var failure: (any Error)?
    var last = ""
    if PQpipelineSync(handle) == 1 {
      for (index, statement) in statements.enumerated() where PQstatus(handle) == CONNECTION_OK {
        while let result = exchange.nextResult() {
          defer { PQclear(result) }
          guard PQresultStatus(result) != PGRES_PIPELINE_ABORTED else { continue }
          do {
            try check(result, statement)
            last = String(cString: PQcmdStatus(result))
            if failure == nil { try visit(index, result) }
          } catch {
            failure = failure ?? error
          }
        }
      }
      // The result of the synchronization.
      if PQstatus(handle) == CONNECTION_OK { PQclear(exchange.nextResult()) }
    } else {
      failure = self.failure(nil, statements[0])
    }
    if PQexitPipelineMode(handle) != 1 {
      failure = failure ?? self.failure(nil, statements[0])
      isUnfit = true
    }
    if let failure { throw failure }
    return last
  }
}
