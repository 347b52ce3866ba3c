import CloudKitModel
import Configuration
import DatabaseAPI
import Foundation
import Storage
import StoreModel

/// A server in a process of its own, with its data in a directory that goes away with it unless it
/// is to be kept.
package final class ServerProcess {
  package let directory: String
  package let url: URL
  private let process: ChildProcess
  private let keepsData: Bool

  /// - Parameters:
  ///   - directory: is made for the server's data.
  ///   - users: are added before the start where they are missing; their tokens are answered in
  ///     order.
  ///   - configuration: the text of `server.json`.
  ///   - keepsData: whether the directory stays when the server stops.
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

  /// Starts a server on a store in PostgreSQL. The directory stays when it stops, with its log.
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

  /// Opens the store of a data directory, and makes it where there is none.
  package static func openStore(
    in directory: String, with configuration: StoreConfiguration = StoreConfiguration(role: .tool)
  ) async throws -> any Store {
    try await ServerConfiguration(dataDirectory: directory).openStore(with: configuration)
  }

  package var port: Int { url.port ?? 80 }
  package var identifier: Int32 { process.identifier }

  /// Ends it as a loss of power would.
  package func kill() { process.kill() }

  package func stop() {
    process.stop()
    // What stays lies where the caller wanted it.
    if !keepsData { try? FileManager.default.removeItem(atPath: directory) }
  }
}
