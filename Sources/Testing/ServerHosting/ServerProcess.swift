import CloudKitModel
import Configuration
import DatabaseAPI
import Foundation
import Storage
import StoreModel

/// A server, `petrel serve`, in a child process, with its data in a directory.
package final class ServerProcess {
  package let directory: String
  package let url: URL
  private let process: ChildProcess
  private let keepsData: Bool

  /// Creates a data directory with users, and starts a server on a free port. Returns when the
  /// server listens.
  ///
  /// - Parameters:
  ///   - directory: the data directory, which is created if it is missing.
  ///   - users: the names of users. Users that the store does not have are added before the start.
  ///   - configuration: the text of `server.json`.
  ///   - keepsData: whether ``stop()`` keeps the directory; otherwise it removes the directory.
  /// - Returns: the server, and a new web auth token for each user, in the order of `users`.
  /// - Throws: ``ProcessError`` if the server does not start, or an error of the file system or the
  ///   store.
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

  /// Starts a server on a store in PostgreSQL. The server's log goes to the file `server.log` in
  /// the directory. ``stop()`` keeps the directory.
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

  /// Starts a server, and reads its output up to the line with the URL at which the server listens.
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

  /// Opens the store of a data directory, and creates the store if it is missing. By default the
  /// role is `.tool`, so the store can be opened while a server uses it.
  package static func openStore(
    in directory: String, with configuration: StoreConfiguration = StoreConfiguration(role: .tool)
  ) async throws -> Store {
    try await ServerConfiguration(dataDirectory: directory).openStore(with: configuration)
  }

  package var port: Int { url.port ?? 80 }
  package var identifier: Int32 { process.identifier }

  /// Ends the server at once by SIGKILL, and keeps the directory.
  package func kill() { process.kill() }

  /// Ends the server by SIGTERM, waits until it has ended, and removes the directory unless
  /// `keepsData` is true.
  package func stop() {
    process.stop()
    // A failure is ignored: the caller chose the directory.
    if !keepsData { try? FileManager.default.removeItem(atPath: directory) }
  }
}
