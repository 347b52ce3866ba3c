import CSQLite
import Synchronization
import Waiting

@testable import SQLEngine
@testable import Storage

/// Counts the steps of SQLite's virtual machine: what a request costs the store, by no clock.
enum SQLiteWork {
  /// The steps of statements that read, by the files of their stores and their texts.
  private static let counted = Mutex<[String: [String: Int]]>([:])

  /// Counts on all connections that are opened while `body` runs.
  static func watching(_ body: () async throws -> Void) async throws {
    // The engine must be set up as the store wants it before anything else is asked of it.
    try SQLiteConnection(path: nil).close()
    sqlite3_auto_extension(unsafeBitCast(watch, to: (@convention(c) () -> Void).self))
    defer {
      sqlite3_cancel_auto_extension(unsafeBitCast(watch, to: (@convention(c) () -> Void).self))
    }
    try await body()
  }

  /// The steps that `body` takes in the store of a service whenever it runs.
  static func steps(
    in service: Service, _ body: () async throws -> Void
  ) async throws -> [String: Int] {
    var runs: [[String: Int]] = []
    // What others do meanwhile, such as the dispatcher, is not done each time; the longer each takes, the
    // more often.
    for _ in 0..<5 + Patience.factor {
      counted.withLock { $0 = [:] }
      try await body()
      runs.append(
        counted.withLock { counted in
          counted.filter { $0.key.hasPrefix(service.directory) }.values
            .reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
        })
    }
    return runs[0].filter { step in runs.allSatisfy { $0[step.key] != nil } }
      .reduce(into: [:]) { steps, step in
        steps[step.key] = runs.compactMap { $0[step.key] }.min()
      }
  }

  private static let watch:
    @convention(c) (
      OpaquePointer?, UnsafeMutablePointer<UnsafePointer<CChar>?>?, OpaquePointer?
    ) -> Int32 = { connection, _, _ in
      sqlite3_trace_v2(
        connection, UInt32(SQLITE_TRACE_PROFILE),
        { _, _, statement, _ in
          let statement = OpaquePointer(statement)
          let steps = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1)
          guard sqlite3_stmt_readonly(statement) != 0, let text = sqlite3_sql(statement) else {
            return 0
          }
          let file = sqlite3_db_filename(sqlite3_db_handle(statement), "main")
          SQLiteWork.counted.withLock {
            $0[file.map { String(cString: $0) } ?? "", default: [:]][
              String(cString: text), default: 0] += Int(steps)
          }
          return 0
        }, nil)
    }
}
