import CPostgreSQL

// Statements whose results nobody looks at are sent without waiting for those before them (libpq's
// pipeline mode). What became of them is learnt with the next that is waited for, at the latest with
// the commit, which goes the same way.
extension PostgreSQLConnection {
  /// Statements under way at most. What the server answers to so many is little enough for the system
  /// to hold while nobody reads it.
  private static let pipelineLimit = 256

  package func runLater(_ statement: String, _ arguments: borrowing SQLArguments) throws {
    try self.arguments.set(arguments)
    try sendLater(statement)
  }

  package func runLater(_ statement: String, _ arguments: [SQLValue]) throws {
    try self.arguments.set(arguments)
    try sendLater(statement)
  }

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

  private func beginPipeline(_ text: String) throws {
    guard pipeline.isEmpty else { return }
    guard PQenterPipelineMode(handle) == 1 else { throw failure(nil, text) }
  }

  /// Commits behind what is under way. Answers PostgreSQL's word for what it did.
  func commitPipeline() throws -> String {
    guard PQsendQueryParams(handle, "COMMIT", 0, nil, nil, nil, nil, 1) == 1 else {
      throw failure(nil, "COMMIT")
    }
    pipeline.append("COMMIT")
    return try settle()
  }

  /// Waits until all that is under way is done. Answers what the last statement did.
  ///
  /// - Throws: why the first that failed did; those behind it were not carried out then.
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
      // The answer to the synchronization.
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
