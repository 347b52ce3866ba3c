import Foundation

/// A PostgreSQL of the tests' own, with its data in a temporary directory. It ends with the process
/// that started it, however that ends.
public actor PostgreSQLServer {
  /// The one that the tests of a process share.
  public static let shared = PostgreSQLServer()

  private struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  private struct Running {
    var directory: String
    var output: FileHandle
  }

  private var started: Task<Running, any Error>?
  /// What the script reads; closed with the process.
  private var lifeline: Pipe?
  private var schemaCount = 0

  /// Starts a server, says so, does what it reads, and stops the server when nobody holds its input any
  /// more. PostgreSQL will not run as root.
  private static let script = """
    set -eu
    if [ "$(id -u)" = 0 ]; then
      chown postgres "$1"
      exec setpriv --reuid=postgres --regid=postgres --init-groups sh -c "$2" sh "$1" "$2"
    fi
    cd "$1"
    PATH=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1):$PATH
    initdb -D "$1/data" -U petrel -A trust -E UTF8 --locale=C --no-sync >"$1/log" 2>&1 ||
      { cat "$1/log"; exit 1; }
    cat >>"$1/data/postgresql.conf" <<END
    listen_addresses = ''
    unix_socket_directories = '$1'
    fsync = off
    max_connections = 300
    END
    pg_ctl -D "$1/data" -l "$1/log" -w start >"$1/start" 2>&1 || { cat "$1/log"; exit 1; }
    echo ready
    while read step; do
      case $step in
      stop) pg_ctl -D "$1/data" -m immediate -w stop ;;
      start) pg_ctl -D "$1/data" -l "$1/log" -w start ;;
      esac >"$1/$step" 2>&1 || cat "$1/$step"
      echo ready
    done
    pg_ctl -D "$1/data" -m immediate stop >"$1/stop" 2>&1
    cd /
    rm -rf "$1"
    """

  /// A place for one store: nothing else of the server is seen from there.
  public struct Schema: Sendable {
    public let name: String
    /// As libpq takes it.
    public let address: String

    /// The address for one who reaches the server at a port of this machine.
    public func address(overPort port: Int) -> String {
      "postgres://petrel@127.0.0.1:\(port)/postgres?options=-csearch_path%3D\(name)"
    }
  }

  /// One for a test that stops it.
  public init() {}

  /// Stops it as when the power fails, and starts it again.
  public func restart() async throws {
    try await stop()
    try await startAgain()
  }

  public func stop() async throws { try await step("stop") }
  public func startAgain() async throws { try await step("start") }

  private func step(_ word: String) async throws {
    let running = try await start()
    lifeline?.fileHandleForWriting.write(Data((word + "\n").utf8))
    let said = await Self.read(running.output, until: "ready\n")
    guard said == "ready\n" else { throw Failure(description: "\(word): \(said)") }
  }

  /// The socket that it listens on.
  public var socket: String {
    get async throws { try await start().directory + "/.s.PGSQL.5432" }
  }

  /// Cuts the connections of all who use it.
  public func cutConnections() async throws {
    try await execute(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'petrel'")
  }

  public func execute(_ statement: String) async throws {
    try await Self.execute(statement, in: try await start().directory)
  }

  public func makeSchema() async throws -> Schema {
    let directory = try await start().directory
    schemaCount += 1
    let name = "test_\(schemaCount)"
    try await Self.execute("CREATE SCHEMA \(name)", in: directory)
    return Schema(
      name: name,
      address: "postgres://petrel@/postgres?host=\(directory)&options=-csearch_path%3D\(name)")
  }

  public func drop(_ schema: Schema) async throws {
    try await Self.execute("DROP SCHEMA \(schema.name) CASCADE", in: try await start().directory)
  }

  private func start() async throws -> Running {
    if let started { return try await started.value }
    let lifeline = Pipe()
    self.lifeline = lifeline
    let task = Task {
      let directory = NSTemporaryDirectory() + "petrel-pg-\(UUID().uuidString.prefix(8))"
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o755])
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/bin/sh")
      process.arguments = ["-c", Self.script, "sh", directory, Self.script]
      let output = Pipe()
      process.standardInput = lifeline
      process.standardOutput = output
      process.standardError = output
      try process.run()
      let said = await Self.read(output.fileHandleForReading, until: "ready\n")
      guard said.hasSuffix("ready\n") else {
        throw Failure(description: "there is no PostgreSQL: \(said)")
      }
      return Running(directory: directory, output: output.fileHandleForReading)
    }
    started = task
    return try await task.value
  }

  private static func read(_ file: FileHandle, until end: String) async -> String {
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "petrel.tests.postgresql").async {
        var said = ""
        while !said.hasSuffix(end) {
          let data = file.availableData
          if data.isEmpty { break }
          said += String(decoding: data, as: UTF8.self)
        }
        continuation.resume(returning: said)
      }
    }
  }

  private static func execute(_ statement: String, in directory: String) async throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/psql")
    process.arguments = [
      "-q", "-v", "ON_ERROR_STOP=1", "-h", directory, "-U", "petrel", "-d", "postgres", "-c",
      "SET client_min_messages = error", "-c", statement,
    ]
    process.standardOutput = FileHandle.nullDevice
    let status = try await withCheckedThrowingContinuation { continuation in
      process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
    guard status == 0 else {
      throw Failure(description: "'\(statement)' failed with status \(status)")
    }
  }
}
