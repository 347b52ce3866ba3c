import CPostgreSQL

// Bulk inserts.
extension PostgreSQLConnection {
  /// Begins a `COPY … FROM STDIN`. Until ``endCopy(_:)``, the connection can run no other
  /// statement.
  package func beginCopy(_ statement: String) throws {
    let result = PQexec(handle, statement)
    defer { PQclear(result) }
    guard PQresultStatus(result) == PGRES_COPY_IN else { throw failure(result, statement) }
  }

  /// Passes a part of the data to libpq, which sends it.
  ///
  /// - Parameter statement: the statement of the copy, for errors.
  package func putCopyData(_ bytes: [UInt8], of statement: String) throws {
    let isPut = bytes.withUnsafeBytes { bytes in
      PQputCopyData(
        handle, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
    }
    guard isPut == 1 else { throw failure(nil, statement) }
  }

  /// Ends the copy and waits for the server.
  ///
  /// - Throws: the server's error about the data.
  package func endCopy(_ statement: String) throws {
    guard PQputCopyEnd(handle, nil) == 1 else { throw failure(nil, statement) }
    var end: (any Error)?
    while let result = PQgetResult(handle) {
      defer { PQclear(result) }
      do { try check(result, statement) } catch { end = end ?? error }
    }
    if let end { throw end }
  }
}
