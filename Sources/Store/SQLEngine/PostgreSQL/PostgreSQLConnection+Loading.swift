import CPostgreSQL

extension PostgreSQLConnection {
  /// Until ``endCopy(_:)``, the connection can run no other statement.
  package func beginCopy(_ statement: String) throws {
    let result = answer(to: statement)
    defer { PQclear(result) }
    guard PQresultStatus(result) == PGRES_COPY_IN else { throw failure(result, statement) }
  }

  package func putCopyData(_ bytes: [UInt8], of statement: String) throws {
    let isPut = bytes.withUnsafeBytes { bytes in
      PQputCopyData(
        handle, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
    }
    guard isPut == 1 else { throw failure(nil, statement) }
    exchange.flush()
  }

  package func endCopy(_ statement: String) throws {
    guard PQputCopyEnd(handle, nil) == 1 else { throw failure(nil, statement) }
    var end: (any Error)?
    while let result = exchange.nextResult() {
      defer { PQclear(result) }
      do { try check(result, statement) } catch { end = end ?? error }
    }
    if let end { throw end }
  }
}

extension PostgreSQLConnection {
  /// Collects the planner's statistics (`ANALYZE`) of tables that have none.
  ///
  /// PostgreSQL plans for a table without statistics as if it had a thousand rows. It analyzes a
  /// table by itself after 50 changed rows, which some tables never reach.
  package func analyzeUnknownTables(
    besides small: [String], _ report: (_ table: String, any Error) -> Void
  ) {
    let unknown: [String]
    do {
      // The second condition is for distributed stores, whose pages are all on the workers.
      unknown = try rows(
        """
        SELECT format('%I', relname) FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND reltuples <= 0
          AND (pg_relation_size(oid) > 0 OR relname = ANY (string_to_array($1, ',')))
          AND pg_has_role(relowner, 'USAGE')
        ORDER BY relname
        """, [.text(small.joined(separator: ","))]
      ) { $0.text(0) }
    } catch {
      return report("pg_class", error)
    }
    for table in unknown {
      do {
        // `SKIP_LOCKED`: another server may be analyzing the table.
        try execute("ANALYZE (SKIP_LOCKED) \(table)")
      } catch {
        report(table, error)
      }
    }
  }
}

extension PostgreSQLConnection {
  package var loggedPages: Int { 0 }
  /// PostgreSQL copies its log by itself.
  package func copyLog(isAlone: Bool) throws -> Int { 0 }

  /// Translates the marks of a definition, which are comments such as `/*clustered*/`. Texts are
  /// compared by their bytes, as in SQLite.
  package func definition(_ statement: String) -> String {
    statement.replacing("/*clustered*/", with: "").replacing("/*unlogged*/", with: "UNLOGGED")
      .replacing(/\bTEXT\b/, with: #"TEXT COLLATE "C""#)
  }
}
