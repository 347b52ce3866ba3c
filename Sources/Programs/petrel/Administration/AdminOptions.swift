import CommandInterface
import Configuration
import Foundation
import HTTPService
import Storage

/// The options by which commands are told where to work: on a server over HTTP, or on a store.
enum AdminOptions {
  static let all: [Arguments.Option] =
    [
      .init("server", "URL", "works on this server (default PETREL_SERVER, where a key is named)"),
      .init(
        "key-file", "FILE",
        "holds the admin key for it (default PETREL_ADMIN_KEY, or PETREL_ADMIN_KEY_FILE)"),
    ] + ConfigurationOptions.ofStore

  static let json = Arguments.Option("json", nil, "prints JSON")

  /// What a command does to a store beside which a server may run.
  enum Work {
    /// Reads, or changes what a server reads from the store each time.
    case besideServer
    /// Changes what a server must know at once: records and zones, whose changes it would not dispatch.
    case withoutServer
  }

  /// Runs `body` with the way that the options name.
  ///
  /// - Parameters:
  ///   - makesStore: whether a data directory without a store gets one.
  /// - Throws: ``UsageError`` for options that contradict each other, ``AdminFailure`` where a server
  ///   stands in the way.
  static func withAccess<Value: Sendable>(
    _ arguments: Arguments, _ work: Work = .besideServer, makesStore: Bool = false,
    _ body: (any AdminAccess) async throws -> Value
  ) async throws -> Value {
    guard let server = try server(arguments) else {
      return try await withLocal(arguments, work, makesStore: makesStore, body)
    }
    do {
      let value = try await body(server)
      await server.close()
      return value
    } catch {
      await server.close()
      throw error
    }
  }

  /// The server that the options name, or the one that runs on the data directory that they name; nil where there is neither.
  static func server(_ arguments: Arguments) throws -> RemoteAdminAccess? {
    if let named = try remote(arguments) { return named }
    let (configuration, _) = try ConfigurationOptions.configuration(arguments)
    // Servers with a store in PostgreSQL learn from it what a command changes, and may have other directories.
    guard configuration.postgreSQL == nil, configuration.socketFile.isListenedAt else { return nil }
    return try RemoteAdminAccess(socket: configuration.socketFile)
  }

  /// The server that the options name; nil where they name a data directory, or nothing.
  private static func remote(_ arguments: Arguments) throws -> RemoteAdminAccess? {
    let named = arguments.string("server")
    let local = ConfigurationOptions.ofStore.map(\.name).first { arguments.string($0) != nil }
    let isOnStore = local != nil
    if named != nil, let local { throw UsageError("takes --server or --\(local), not both") }
    let server = named ?? ProcessInfo.processInfo.environment["PETREL_SERVER"] ?? ""
    guard !server.isEmpty, !isOnStore else {
      guard arguments.string("key-file") == nil else {
        throw UsageError("--key-file goes with --server, the URL that the key is for")
      }
      return nil
    }
    guard let key = try AdminKeySource.key(arguments) else {
      // Apps have the variable for themselves; with a key it is meant for this program too.
      guard named != nil else { return nil }
      throw UsageError(
        "--server needs an admin key: name its file with --key-file, or set PETREL_ADMIN_KEY or "
          + "PETREL_ADMIN_KEY_FILE; 'petrel keys add-admin-key' makes one on the server")
    }
    return try RemoteAdminAccess(server: server, key: key)
  }

  /// Refuses to make a store in a directory that nobody named beside a server that runs on another: what the command adds
  /// would be unknown to it.
  private static func refuseSecondStore(_ arguments: Arguments) throws {
    guard !ServeCommand.isDataDirectoryNamed(arguments) else { return }
    let running = SocketFile.listening(named: ServerConfiguration.socketName).filter(\.isListenedAt)
    guard let first = running.first else { return }
    let others = running.count == 1 ? "" : ", and \(running.count - 1) more run on others"
    throw UsageError(
      "there is no store in '\(ServeCommand.dataDirectory(arguments))', and a server runs on '\(first.directory)'\(others): "
        + "name the one that is meant with --data; with '--data .petrel' a new store is made here")
  }

  private static func withLocal<Value: Sendable>(
    _ arguments: Arguments, _ work: Work, makesStore: Bool,
    _ body: (any AdminAccess) async throws -> Value
  ) async throws -> Value {
    // As its server has it: in which environments the schema is fixed, say.
    let (configuration, _) = try ConfigurationOptions.configuration(arguments)
    let directory = configuration.dataDirectory
    let isMissing =
      configuration.postgreSQL == nil
      && !FileManager.default.fileExists(atPath: configuration.storePath)
    if isMissing, !makesStore {
      throw UsageError(
        "there is no store in '\(directory)'; name its directory with --data, its PostgreSQL with "
          + "--store, or a server with --server")
    }
    if isMissing { try refuseSecondStore(arguments) }
    let isServed = try await SQLStore.isServed(at: configuration.storeLocation)
    // On a PostgreSQL the servers are left word of what is committed.
    let takesServersPlace = work == .withoutServer && configuration.postgreSQL == nil
    if takesServersPlace, isServed {
      throw AdminFailure(
        "another program has the store in '\(directory)' open, and does not listen at "
          + "'\(configuration.socketFile.path)': wait for the end of another command that changes records, or name a server "
          + "with --server and an admin key")
    }
    // Who takes a server's place keeps one from starting meanwhile.
    var storeConfiguration = StoreConfiguration(
      of: configuration, role: takesServersPlace ? .server : .tool)
    if work == .besideServer {
      // Reads each page once or a few times, and leaves the memory to the server.
      storeConfiguration.tuning.cacheKilobytes = 16 * 1024
    }
    let store = try await ServeCommand.openStore(of: configuration, with: storeConfiguration)
    if isMissing {
      Output.complain(
        "there was no store here: '\(configuration.socketFile.directory)' has a new one")
    }
    do {
      let value = try await body(
        LocalAdminAccess(store: store, isServed: isServed, configuration: configuration))
      await store.close()
      return value
    } catch {
      await store.close()
      throw error
    }
  }
}
