import CPostgreSQL

// Statements whose results nobody reads are sent without waiting for earlier ones (libpq's pipeline
// mode). Their errors appear when the connection next waits for a result, at the latest at the
// commit, which is also sent through the pipeline.
extension PostgreSQLConnection {
  /// The most statements that are sent and not yet answered. The system's buffers can hold the
  /// server's answers to this many statements until the answers are read.
  private static let pipelineLimit = 256

  /// Sends a statement that runs for every record, without waiting for its result.
  package func runLater(_ statement: String, _ arguments: borrowing SQLArguments) throws {
    try self.arguments.set(arguments)
    try sendLater(statement)
  }

  /// Sends a statement without waiting for its result.
  package func runLater(_ statement: String, _ arguments: [SQLValue]) throws {
    try self.arguments.set(arguments)
    try sendLater(statement)
  }

  /// Prepares a statement if it is new, and sends it.
  private func sendLater(_ text: String) throws {
    if pipeline.count >= Self.pipelineLimit || !isPrepared(text) { try settle() }
    let statement = try prepared(text)
    try beginPipeline(text)
    let isSent = arguments.withPointers(first: statement.argumentCount) {
      PQsendQueryPrepared(handle, statement.name, $0, $1, $2, $3, 1)
    }
    guard isSent == 1 else { throw failure(nil, text) }
    pipeline.append(text)
  }

  /// Enters libpq's pipeline mode, if no statement is in the pipeline yet.
  private func beginPipeline(_ text: String) throws {
    guard pipeline.isEmpty else { return }
    guard PQenterPipelineMode(handle) == 1 else { throw failure(nil, text) }
  }

  /// Sends the commit after the statements in the pipeline, and waits for all of them. Returns the
  /// command tag of the commit: PostgreSQL's name for the executed command, such as `ROLLBACK`.
  func commitPipeline() throws -> String {
    guard PQsendQueryParams(handle, "COMMIT", 0, nil, nil, nil, nil, 1) == 1 else {
      throw failure(nil, "COMMIT")
    }
    pipeline.append("COMMIT")
    return try settle()
  }

  /// Waits until all statements in the pipeline are done, and leaves the pipeline mode. Returns the
  /// command tag of the last one, such as `COMMIT`; empty if there were none.
  ///
  /// - Throws: the error of the first statement that failed. The statements after it were not
  ///   executed.
  @discardableResult
  package func settle() throws -> String {
    guard !pipeline.isEmpty else { return "" }
    let statements = pipeline
    pipeline.removeAll(keepingCapacity: true)
    var failure: (any Error)?
    var last = ""
    if PQpipelineSync(handle) == 1 {
      for statement in statements where PQstatus(handle) == CONNECTION_OK {
        while let result = PQgetResult(handle) {
          defer { PQclear(result) }
          guard PQresultStatus(result) != PGRES_PIPELINE_ABORTED else { continue }
          do {
            try check(result, statement)
            last = String(cString: PQcmdStatus(result))
          } catch {
            failure = failure ?? error
          }
        }
      }
      // The result of the synchronization.
      if PQstatus(handle) == CONNECTION_OK { PQclear(PQgetResult(handle)) }
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
