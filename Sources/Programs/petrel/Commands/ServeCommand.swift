import CommandInterface
import Configuration
import Foundation
import Logging
import PetrelServer
import Settings
import Storage
import StoreModel

/// The command `petrel serve`, which runs the server until SIGINT or SIGTERM.
///
/// After the signal, the server drains: for `drainTime` seconds it reports that it is not ready,
/// but still answers requests. Then it stops. A second signal ends the draining at once.
struct ServeCommand: Command {
  let name = "serve"
  let example = "petrel serve --data /var/lib/petrel --config /etc/petrel/server.json"
  let summary = "Runs the server until it is interrupted."
  let options = ConfigurationOptions.all

  func run(_ arguments: Arguments) async throws -> Int32 {
    let (configuration, sources) = try Self.configuration(arguments)
    let log = ServerLog.standardError(
      level: configuration.logLevel, format: configuration.logFormat)
    var options = StoreConfiguration(of: configuration)
    options.onUnknownTable = { table, error in
      log.warning(
        "PostgreSQL could not analyze a table, statements may be slow until it does",
        ["table": .string(table), "cause": .string("\(error)")])
    }
    let store = try await Self.openStore(of: configuration, with: options)
    let server = try Server(configuration: configuration, store: store, log: log)
    store.setUnsyncedHandler { reason in
      log.error(
        "the server exits because a sync to disk failed; start it again", ["cause": .string(reason)]
      )
      // The caches may differ from the disk now, and an orderly close would write pages from them.
      // The process therefore ends at once.
      _exit(ExitStatus.failed)
    }
    // A program that reads the line about the address may send a signal at once, so the handlers
    // are ready before that line.
    let interruption = await TerminationSignal()
    try server.start(listeningAt: configuration.socketFile)
    let reloading = Reloading(server: server, log: log, sources: sources) {
      try Self.configuration(arguments)
    }
    await reloading.start()
    Output.announce("petrel listens on \(server.url)")
    if let address = configuration.postgreSQL { Output.announce("its store is at \(address)") }
    Output.announce("its data is in \(Self.absolute(configuration.dataDirectory))")
    await interruption.wait()
    reloading.stop()
    Output.announce("petrel stops")
    server.drain()
    await TerminationSignal.wait(atMost: configuration.drainTime)
    await server.stop()
    await store.close()
    return 0
  }

  /// Reads the configuration of a server.
  ///
  /// - Throws: `UsageError` for a mistake in it, and if it lists no containers although other
  ///   machines can reach the server.
  private static func configuration(
    _ arguments: Arguments
  ) throws -> (ServerConfiguration, ConfigurationSources) {
    let (configuration, sources) = try ConfigurationOptions.configuration(arguments, files: true)
    if let mistake = configuration.openContainersMistake { throw UsageError(mistake.description) }
    return (configuration, sources)
  }

  static let dataOption = Arguments.Option(
    "data", "DIRECTORY", "the directory of the store (default PETREL_DATA, or .petrel)")

  static func dataDirectory(_ arguments: Arguments) -> String {
    arguments.string("data") ?? ProcessInfo.processInfo.environment["PETREL_DATA"] ?? ".petrel"
  }

  static func isDataDirectoryNamed(_ arguments: Arguments) -> Bool {
    arguments.string("data") != nil || ProcessInfo.processInfo.environment["PETREL_DATA"] != nil
  }

  /// Opens the store in a data directory. Creates the directory and the store if they are missing.
  static func openStore(
    in directory: String, with configuration: StoreConfiguration = StoreConfiguration(role: .tool)
  ) async throws -> Store {
    try await openStore(of: ServerConfiguration(dataDirectory: directory), with: configuration)
  }

  /// Opens the store of a configuration, and creates it if it is missing.
  ///
  /// - Throws: `UsageError` if the configuration does not say where the store is.
  static func openStore(
    of server: ServerConfiguration, with configuration: StoreConfiguration
  ) async throws -> Store {
    do {
      return try await server.openStore(with: configuration)
    } catch let error as ConfigurationError {
      throw UsageError(error.description)
    }
  }

  /// Opens the store of the data directory, runs `body` with it, and closes the store. The role is
  /// `.tool`, so a server may have the store open at the same time.
  static func withStore<Value: Sendable>(
    _ arguments: Arguments, _ body: (Store) async throws -> Value
  ) async throws -> Value {
    let store = try await openStore(in: dataDirectory(arguments))
    do {
      let value = try await body(store)
      await store.close()
      return value
    } catch {
      await store.close()
      throw error
    }
  }

  private static func absolute(_ path: String) -> String {
    URL(fileURLWithPath: path).standardizedFileURL.path
  }
}

extension StoreConfiguration {
  /// Creates the store's configuration from the server's.
  ///
  /// - Parameter role: The role of the process. A command that must keep servers from opening the
  ///   store also has the role `.server`.
  init(of server: ServerConfiguration, role: Role = .server) {
    self.init(role: role)
    deletionRetention = Double(server.deletionRetentionDays) * 24 * 60 * 60
    writers = server.storeWriters
    tuning.checkpointPages = server.storeLogMegabytes << 8
    tuning.logPages = tuning.checkpointPages * 4
    if server.productionSchema == .open { fixedEnvironments = [] }
    tuning.searchCacheBytes = server.limits.searchCacheBytes
    notificationLog.age = Double(server.notificationLog.days) * 24 * 60 * 60
    notificationLog.entries = server.notificationLog.entries
    notificationLog.bytes = server.notificationLog.bytes
    changeHistory.changes = server.explain.changes
    changeHistory.age = Double(server.explain.days) * 24 * 60 * 60
  }
}
