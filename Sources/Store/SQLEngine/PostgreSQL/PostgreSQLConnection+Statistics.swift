extension PostgreSQLConnection {
  /// Collects the planner's statistics (`ANALYZE`) of tables that have none.
  ///
  /// PostgreSQL plans for a table without statistics as if it had ten pages and a thousand rows. It
  /// analyzes a table by itself after 50 rows changed, which never happens to some tables. After a
  /// restored dump, it analyzes the tables only some time later.
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
