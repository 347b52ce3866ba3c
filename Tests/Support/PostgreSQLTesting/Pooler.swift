import CPostgreSQL
import Foundation

/// A PgBouncer that a test has started, on a socket in a folder of its own.
///
/// Unchecked: nothing changes after the initializer but the process, which ends once.
public final class Pooler: @unchecked Sendable {
  /// The program, which `make tools` puts beside what the compiler makes.
  private static let program: String? = {
    // Without the link, the search begins at the program's own name.
    let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    var folder = URL(fileURLWithPath: link ?? CommandLine.arguments[0])
    while folder.path != "/" {
      folder.deleteLastPathComponent()
      let candidate = folder.appending(path: "tools/pgbouncer").path
      if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
    }
    return nil
  }()
  public static let isInstalled = program != nil

  private let process = Process()
  private let folder: String

  /// - Parameter socket: the path of PostgreSQL's socket.
  public init(before socket: String, settings: String) throws {
    folder = "/tmp/petrel-pooler-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try """
    [databases]
    * = host=\((socket as NSString).deletingLastPathComponent) user=petrel
    [pgbouncer]
    listen_addr =
    unix_socket_dir = \(folder)
    listen_port = 5432
    auth_type = any
    \(settings)
    """.write(toFile: folder + "/pgbouncer.ini", atomically: true, encoding: .utf8)
    process.executableURL = URL(fileURLWithPath: Self.program ?? "/nowhere/pgbouncer")
    process.arguments = ["-q", folder + "/pgbouncer.ini"]
    // PgBouncer refuses to run as root.
    if geteuid() == 0, let user = getpwnam("postgres") {
      chown(folder, user.pointee.pw_uid, user.pointee.pw_gid)
      process.arguments = ["-q", "-u", "postgres", folder + "/pgbouncer.ini"]
    }
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
  }

  public var isListening: Bool { PQping(address(of: "postgres")) == PQPING_OK }

  public func address(of database: String) -> String {
    "postgres://petrel@/\(database)?host=\(folder)"
  }

  public func end() {
    // PgBouncer has the signal mask of the thread that started it, which blocks other signals.
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    try? FileManager.default.removeItem(atPath: folder)
  }
}
