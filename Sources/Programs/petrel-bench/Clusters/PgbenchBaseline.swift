import CommandInterface
import Foundation
import PostgreSQLHosting
import ServerHosting

/// The baseline for saves on PostgreSQL: the rate at which `pgbench`, PostgreSQL's benchmark
/// program, writes the same rows in the same number of transactions, without a Petrel server.
///
/// `pgbench` writes into copies of the store's tables, with the same columns and indexes. For each
/// save, it writes about as many rows as the servers did, with values of the same length. A
/// transaction has one statement for each table and verb.
struct PgbenchBaseline {
  /// The measured rate.
  struct Result {
    var savesPerSecond: Double
    /// The average number of saves in a transaction.
    var savesPerTransaction: Double
    /// The average number of rows of a save.
    var rowsPerSave: Double
  }

  let server: HostedPostgreSQL
  /// The number of pgbench's clients, each with one connection.
  let clients: Int
  /// The approximate length of the run in seconds.
  let seconds: Int

  /// A column of a table, with the name of its SQL type.
  private struct Column {
    var name: String
    var type: String
  }

  /// Creates copies of the tables and a script for pgbench, runs the script, and deletes the
  /// copies.
  ///
  /// - Parameters:
  ///   - counts: The work that the Petrel servers caused for some saves.
  ///   - saves: The number of these saves.
  /// - Throws: `UsageError` if pgbench is missing or fails.
  func measure(_ counts: ClusterCounts, saves: Double) throws -> Result {
    guard let program = HostedPostgreSQL.program("pgbench") else {
      throw UsageError("there is no pgbench; it comes with Debian's postgresql-15")
    }
    let probe = try PostgreSQLProbe(server.address())
    try probe.rows("DROP SCHEMA IF EXISTS baseline CASCADE")
    try probe.rows("CREATE SCHEMA baseline")
    try probe.rows("CREATE SEQUENCE baseline.numbers CACHE 1000 START 1000000000")
    // An error is ignored, because the benchmark deletes this PostgreSQL server at the end.
    defer { _ = try? probe.rows("DROP SCHEMA baseline CASCADE") }
    let together = max(1, saves / counts.commits)
    var steps: [String] = []
    var rows = 0.0
    for (name, work) in counts.works.sorted(by: { $0.key < $1.key }) {
      let words = name.split(separator: " ").map(String.init)
      guard words.count == 2, work.rows > 0,
        try !columns(of: words[1], probe).isEmpty
      else { continue }
      // Rows are left out if fewer than one transaction in two has them. Deletions are left out
      // too.
      let each = Int((work.rows / saves * together).rounded())
      guard each > 0 else { continue }
      let step: String? =
        switch words[0] {
        case "INSERT": try insertion(into: words[1], rows: each, probe)
        case "UPSERT", "UPDATE":
          counts.works["INSERT " + words[1]] == nil ? try update(of: words[1], probe) : nil
        default: nil
        }
      guard let step else { continue }
      steps.append(step)
      rows += Double(each)
    }
    let range = try probe.numbers(
      "SELECT min(database_id), max(database_id) FROM databases", count: 2)
    let script = server.directory + "/baseline.sql"
    let text =
      (["\\set db random(\(Int(range[0])), \(Int(range[1])))", "BEGIN;"] + steps + ["COMMIT;"])
      .joined(separator: "\n")
    try text.write(toFile: script, atomically: true, encoding: .utf8)
    // The runs end after a number of transactions, not after a time. A run with a time ends by an
    // alarm signal. This signal does not reach pgbench, because a child of a pool thread inherits a
    // signal mask that blocks it.
    let estimate = try rate(of: program, script, transactions: 100)
    let rate = try rate(
      of: program, script,
      transactions: max(100, Int(estimate * Double(seconds) / Double(clients))))
    return Result(
      savesPerSecond: rate * together, savesPerTransaction: together,
      rowsPerSave: rows / together)
  }

  /// Runs the script, and returns the transactions a second of all clients together.
  private func rate(of program: String, _ script: String, transactions: Int) throws -> Double {
    let process = try ChildProcess(
      path: program,
      [
        "-h", server.directory, "-U", "petrel", "-n", "-M", "prepared", "-c", "\(clients)", "-j",
        "2",
        "-t", "\(transactions)", "-f", script, "postgres",
      ], readsOutput: true)
    var rate: Double?
    while let line = process.readLine() {
      if let match = line.firstMatch(of: /^tps = ([0-9.]+)/) { rate = Double(match.1) }
    }
    guard process.wait() == 0, let rate else { throw UsageError("pgbench failed") }
    return rate
  }

  private func columns(of table: String, _ probe: PostgreSQLProbe) throws -> [Column] {
    try probe.rows(
      """
      SELECT column_name, data_type FROM information_schema.columns
      WHERE table_schema = 'public' AND table_name = '\(table)' ORDER BY ordinal_position
      """
    ).map { Column(name: $0[0] ?? "", type: $0[1] ?? "") }
  }

  /// Returns a statement that inserts rows for a random database, with values of about the same
  /// length as those in the table.
  ///
  /// - Parameter rows: The number of rows of one execution.
  private func insertion(into table: String, rows: Int, _ probe: PostgreSQLProbe) throws -> String {
    try copy(table, probe)
    let columns = try columns(of: table, probe)
    let values = try columns.map { column in
      let sample = try probe.numbers(
        """
        SELECT avg(octet_length(\(column.name)\(column.type == "text" ? "" : "::text"))),
          avg((\(column.name) IS NULL)::int)
        FROM (SELECT \(column.name) FROM public.\(table) LIMIT 2000) AS sample
        """, count: 2)
      if column.name == "database_id" { return ":db" }
      if sample[1] > 0.5 { return "NULL" }
      // For bytes, the length is that of their hexadecimal text: two digits for each byte, and the
      // prefix `\x`.
      let length = max(1, Int(sample[0].isFinite ? sample[0] : 1))
      switch column.type {
      case "text": return "left(repeat(md5(n::text || :db::text || random()::text), 8), \(length))"
      case "bytea":
        return "decode(repeat('5a', \(max(1, (length - 2) / 2 - 8))), 'hex') || int8send(n)"
      case "boolean": return "false"
      default: return "n"
      }
    }
    return """
      INSERT INTO baseline.\(table) (\(columns.map(\.name).joined(separator: ", "))) \
      SELECT \(values.joined(separator: ", ")) FROM (SELECT nextval('baseline.numbers') AS n \
      FROM generate_series(1, \(rows))) AS numbers;
      """
  }

  /// Returns a statement that updates a table's row of a random database. The result is `nil` if
  /// the table has no database numbers, or no number column outside of its keys that the statement
  /// can increment.
  private func update(of table: String, _ probe: PostgreSQLProbe) throws -> String? {
    let columns = try columns(of: table, probe)
    guard columns.contains(where: { $0.name == "database_id" }) else { return nil }
    let keys = Set(
      try probe.rows(
        """
        SELECT attname FROM pg_index JOIN pg_attribute
          ON attrelid = indrelid AND attnum = ANY (indkey)
        WHERE indrelid = 'public.\(table)'::regclass
        """
      ).compactMap { $0[0] })
    guard let number = columns.first(where: { $0.type == "bigint" && !keys.contains($0.name) })
    else { return nil }
    try copy(table, probe)
    try probe.rows(
      """
      INSERT INTO baseline.\(table) SELECT DISTINCT ON (database_id) * FROM public.\(table)
      ON CONFLICT DO NOTHING
      """)
    return """
      UPDATE baseline.\(table) SET \(number.name) = \(number.name) + 1 WHERE database_id = :db;
      """
  }

  /// Creates an empty copy of a table with its indexes, unless there is one.
  private func copy(_ table: String, _ probe: PostgreSQLProbe) throws {
    try probe.rows(
      "CREATE TABLE IF NOT EXISTS baseline.\(table) (LIKE public.\(table) INCLUDING ALL)")
  }
}
