extension PostgreSQLConnection {
  /// PostgreSQL takes a table that it has not looked at for one of ten pages and a thousand rows, and plans
  /// by that. By itself it looks at a table when 50 rows of it have changed, which those of some never do;
  /// after a dump was restored, when it comes to it.
  package func analyzeUnknownTables(
    besides small: [String], _ report: (_ table: String, any Error) -> Void
  ) {
    let unknown: [String]
    do {
      // The second condition is for distributed stores, where all pages are on the workers.
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
        // Another server that does the same need not be waited for.
        try execute("ANALYZE (SKIP_LOCKED) \(table)")
      } catch {
        report(table, error)
      }
    }
  }
}
