import Foundation
import JSONCoding
import ServerHosting

/// The counters of PostgreSQL, of the Petrel servers and of the processors: at one moment, or the
/// increase between two moments.
struct ClusterCounts {
  /// The executions of the statements with one verb on one table.
  struct Work {
    var calls = 0.0
    /// The number of rows that these executions returned or changed.
    var rows = 0.0
  }

  /// The executions by verb and table, such as `INSERT records`. Empty without the extension
  /// `pg_stat_statements`. The next four values are then NaN.
  var works: [String: Work] = [:]
  var statements = Double.nan
  var commits = Double.nan
  var rollbacks = Double.nan
  /// The seconds in which PostgreSQL executed statements, commits included.
  var executionSeconds = Double.nan
  /// The position of the end of the write-ahead log, in bytes.
  var logBytes = 0.0
  var fullPageImages = 0.0
  /// The number of times that PostgreSQL synced the log to the disk.
  var flushes = 0.0
  /// The seconds of these syncs.
  var flushSeconds = 0.0
  var deadlocks = 0.0
  var figures = ServerFigures()
  var serverProcessor = 0.0
  /// The processor seconds of each PostgreSQL process, by process identifier. Empty if PostgreSQL
  /// is on another machine.
  var postgreSQLProcessor: [Int32: Double] = [:]
  /// The processor seconds of this process, which sends the load.
  var loadProcessor = 0.0

  /// Reads all counters.
  ///
  /// - Parameter isLocal: Whether PostgreSQL is on this machine, so that its processor time can be
  ///   read.
  static func take(
    _ probe: PostgreSQLProbe, servers: [ServerProcess], isLocal: Bool
  ) throws -> ClusterCounts {
    var counts = ClusterCounts()
    if try hasStatements(probe) {
      counts.statements = 0
      counts.commits = 0
      counts.rollbacks = 0
      counts.executionSeconds = 0
      for row in try probe.rows(statementCounts) {
        let calls = row[2].flatMap(Double.init) ?? 0
        let rows = row[3].flatMap(Double.init) ?? 0
        let verb = row[0] ?? ""
        switch verb {
        case "COMMIT": counts.commits += calls
        case "ROLLBACK": counts.rollbacks += calls
        default: break
        }
        counts.works[
          [verb, row[1] ?? ""].filter { !$0.isEmpty }.joined(separator: " "), default: Work()
        ]
        .add(calls, rows)
        counts.statements += calls
        counts.executionSeconds += (row[4].flatMap(Double.init) ?? 0) / 1000
      }
    }
    let log = try probe.numbers(
      """
      SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn, wal_fpi, wal_sync, wal_sync_time / 1000
      FROM pg_stat_wal
      """, count: 4)
    (counts.logBytes, counts.fullPageImages, counts.flushes, counts.flushSeconds) =
      (log[0], log[1], log[2], log[3])
    counts.deadlocks = try probe.numbers(
      "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()", count: 1)[0]
    counts.figures = try ServerFigures.read(from: servers.map(\.port))
    counts.serverProcessor = servers.reduce(0) { $0 + ProcessTime.seconds(of: $1.identifier) }
    if isLocal {
      for row in try probe.rows("SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()") {
        guard let process = row[0].flatMap(Int32.init) else { continue }
        counts.postgreSQLProcessor[process] = ProcessTime.seconds(of: process)
      }
    }
    counts.loadProcessor = ProcessTime.seconds(of: getpid())
    return counts
  }

  static func hasStatements(_ probe: PostgreSQLProbe) throws -> Bool {
    try !probe.rows("SELECT 1 FROM pg_extension WHERE extname = 'pg_stat_statements'").isEmpty
  }

  /// The query for the executions by verb and table. It leaves out the benchmark's own statements,
  /// which read PostgreSQL's counters.
  private static let statementCounts = """
    SELECT CASE WHEN query ILIKE 'INSERT%ON CONFLICT%UPDATE%' THEN 'UPSERT'
        ELSE upper(substring(query from '^[A-Za-z]+')) END,
      coalesce(substring(query from '^INSERT INTO ([a-z_]+)'), substring(query from '^UPDATE ([a-z_]+)'),
        substring(query from '^DELETE FROM ([a-z_]+)'), substring(query from '\\mFROM ([a-z_]+)'), ''),
      sum(calls), sum(rows), sum(total_exec_time)
    FROM pg_stat_statements
    WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND query NOT ILIKE '%pg_stat_%' AND query NOT ILIKE '%baseline%'
    GROUP BY 1, 2
    """

  func since(_ before: ClusterCounts) -> ClusterCounts {
    var result = self
    for (name, work) in before.works {
      result.works[name, default: Work()].add(-work.calls, -work.rows)
    }
    result.works = result.works.filter { $0.value.calls > 0 }
    result.statements -= before.statements
    result.commits -= before.commits
    result.rollbacks -= before.rollbacks
    result.executionSeconds -= before.executionSeconds
    result.logBytes -= before.logBytes
    result.fullPageImages -= before.fullPageImages
    result.flushes -= before.flushes
    result.flushSeconds -= before.flushSeconds
    result.deadlocks -= before.deadlocks
    result.figures = figures - before.figures
    result.serverProcessor -= before.serverProcessor
    for (process, seconds) in before.postgreSQLProcessor {
      result.postgreSQLProcessor[process, default: seconds] -= seconds
    }
    result.loadProcessor -= before.loadProcessor
    return result
  }

  /// The processor seconds of all PostgreSQL processes; NaN if PostgreSQL is on another machine.
  var postgreSQLSeconds: Double {
    postgreSQLProcessor.isEmpty ? .nan : postgreSQLProcessor.values.reduce(0, +)
  }

  /// The number of rows that statements inserted, updated or deleted; NaN without
  /// `pg_stat_statements`.
  var rowsWritten: Double {
    guard statements.isFinite else { return .nan }
    return works.reduce(0) { sum, work in
      ["INSERT", "UPSERT", "UPDATE", "DELETE"].contains { work.key.hasPrefix($0 + " ") }
        ? sum + work.value.rows : sum
    }
  }
}

extension ClusterCounts.Work {
  fileprivate mutating func add(_ calls: Double, _ rows: Double) {
    self.calls += calls
    self.rows += rows
  }
}
