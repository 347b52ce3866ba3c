import CloudKitModel
import Configuration
import DatabaseAPI
import Foundation
import Storage
import StoreModel

/// A `petrel serve` in a process of its own, with its data in a directory. ``stop()`` removes the
/// directory unless it is to be kept.
package final class ServerProcess {
  /// The data directory.
  package let directory: String
  /// The URL at which the server listens, as the server has printed it.
  package let url: URL
  /// The server's process.
  private let process: ChildProcess
  /// Whether the directory stays when the server stops.
  private let keepsData: Bool

  /// Creates a data directory with users, and starts a server on a free port. It returns when the
  /// server listens.
  ///
  /// - Parameters:
  ///   - directory: the data directory, which is created if it is missing.
  ///   - users: the names of users. Missing ones are added before the start.
  ///   - configuration: the text of `server.json`.
  ///   - keepsData: whether the directory stays when the server stops.
  /// - Returns: the server, and a new web auth token for each user, in their order.
  /// - Throws: ``ProcessError`` if the server does not start.
  package static func start(
    in directory: String, users: [String], configuration: String = "{}", keepsData: Bool = false
  ) async throws -> (server: ServerProcess, tokens: [String]) {
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true)
    try configuration.write(
      toFile: directory + "/server.json", atomically: true, encoding: .utf8)
    let store = try await openStore(in: directory)
    var tokens: [String] = []
    for name in users {
      let known = try await store.accounts.user(named: name)
      let user =
        if let known { known } else { try await store.accounts.addUser(named: name, at: .now) }
      tokens.append(try await Account.makeToken(for: user, in: store.accounts, at: .now))
    }
    await store.close()
    return (try ServerProcess(directory: directory, keepsData: keepsData), tokens)
  }

  /// Starts a server on a store in PostgreSQL. The directory stays when the server stops, with its
  /// log in `server.log`.
  ///
  /// - Parameter store: the address of the PostgreSQL database.
  package convenience init(in directory: String, store: String) throws {
    let log = directory + "/server.log"
    if !FileManager.default.fileExists(atPath: log) {
      _ = FileManager.default.createFile(atPath: log, contents: nil)
    }
    let errors = FileHandle(forWritingAtPath: log)
    _ = try errors?.seekToEnd()
    try self.init(
      directory: directory, keepsData: true,
      options: ["--store", store, "--log-level", "warning"], errors: errors)
  }

  /// Starts a server, and reads its output until it says where it listens.
  private init(
    directory: String, keepsData: Bool, options: [String] = [], errors: FileHandle? = nil
  ) throws {
    self.directory = directory
    self.keepsData = keepsData
    process = try ChildProcess(
      "petrel", ["serve", "--data", directory, "--port", "0"] + options, readsOutput: true,
      errors: errors)
    while let line = process.readLine() {
      let words = line.split(separator: " ")
      if line.hasPrefix("petrel listens on"),
        let url = words.last.flatMap({ URL(string: String($0)) })
      {
        self.url = url
        return
      }
    }
    process.stop()
    throw ProcessError("the server in \(directory) did not start")
  }

  /// Opens the store of a data directory, and creates it if it is missing. By default it opens the
  /// store as a tool, which may run beside the server.
  package static func openStore(
    in directory: String, with configuration: StoreConfiguration = StoreConfiguration(role: .tool)
  ) async throws -> any Store {
    try await ServerConfiguration(dataDirectory: directory).openStore(with: configuration)
  }

  /// The port at which the server listens.
  package var port: Int { url.port ?? 80 }
  /// The server's process ID.
  package var identifier: Int32 { process.identifier }

  /// Ends the server at once by SIGKILL. The directory stays.
  package func kill() { process.kill() }

  /// Ends the server in order, and removes the directory unless it is to be kept.
  package func stop() {
    process.stop()
    // A failure is ignored: the caller chose the directory.
    if !keepsData { try? FileManager.default.removeItem(atPath: directory) }
  }
}
