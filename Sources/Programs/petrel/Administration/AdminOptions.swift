import CommandInterface
import Configuration
import Foundation
import HTTPService
import Storage

/// The options that say where a command works: on a server over HTTP, or directly on a store.
enum AdminOptions {
  static let all: [Arguments.Option] =
    [
      .init(
        "server", "URL", "the server to work on (default PETREL_SERVER, if an admin key is given)"),
      .init(
        "key-file", "FILE",
        "the file with the admin key for the server (default PETREL_ADMIN_KEY, or PETREL_ADMIN_KEY_FILE)"
      ),
    ] + ConfigurationOptions.ofStore

  static let json = Arguments.Option("json", nil, "prints JSON")

  /// The kind of work that a command does on a store.
  enum Work {
    /// The command only reads, or it changes data that a server does not keep in memory. A server
    /// may run beside the command.
    case besideServer
    /// The command changes records or zones. If the store is in a file, a running server would not
    /// learn of these changes and would not dispatch them. No server may then have the store open.
    /// If the store is in PostgreSQL, servers may run, because the commit informs them.
    case withoutServer
  }

  /// Opens the access that the options name, runs `body` with this access, and closes the access.
  ///
  /// The access is, in this order:
  ///
  /// 1. the server of `--server` or `PETREL_SERVER`, with an admin key;
  /// 2. the server that runs on a store in a file, through the socket in its data directory;
  /// 3. the store itself, in this process.
  ///
  /// - Parameters:
  ///   - work: The kind of work, which decides whether a server may have the store open.
  ///   - makesStore: Whether a missing store is created. It matters only for the third access.
  /// - Throws: `UsageError` for contradicting options or a missing store; ``AdminFailure`` if
  ///   another process has the store open and `work` does not permit that; the mistakes of the
  ///   configuration; the errors of `body`.
  static func withAccess<Value: Sendable>(
    _ arguments: Arguments, _ work: Work = .besideServer, makesStore: Bool = false,
    _ body: (any AdminAccess) async throws -> Value
  ) async throws -> Value {
    do {
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
    } catch let failure as AdminFailure {
      throw failure.inWords(of: arguments)
    }
  }

  /// Returns the server that the options name, or the server that runs on the store in the data
  /// directory. Returns `nil` if there is no such server, or if the store is in PostgreSQL.
  ///
  /// - Throws: `UsageError` if the options contradict each other or the admin key is missing.
  static func server(_ arguments: Arguments) throws -> RemoteAdminAccess? {
    if let named = try remote(arguments) { return named }
    let (configuration, _) = try ConfigurationOptions.configuration(arguments)
    // The socket is not used with a store in PostgreSQL: the servers read the changes of commands
    // from the store, and they may have other data directories.
    guard configuration.postgreSQL == nil, configuration.socketFile.isListenedAt else { return nil }
    return try RemoteAdminAccess(socket: configuration.socketFile)
  }

  /// Returns the server of `--server` or `PETREL_SERVER`. Returns `nil` if the options name a
  /// store, if no server is named, or if only `PETREL_SERVER` names one and there is no admin key.
  ///
  /// - Throws: `UsageError` if the options contradict each other or the admin key is missing.
  private static func remote(_ arguments: Arguments) throws -> RemoteAdminAccess? {
    let named = arguments.string("server")
    let local = ConfigurationOptions.ofStore.map(\.name).first { arguments.string($0) != nil }
    let isOnStore = local != nil
    if named != nil, let local { throw UsageError("takes --server or --\(local), not both") }
    let server = named ?? ProcessInfo.processInfo.environment["PETREL_SERVER"] ?? ""
    guard !server.isEmpty, !isOnStore else {
      guard arguments.string("key-file") == nil else {
        throw UsageError("--key-file needs --server, the URL of the key's server")
      }
      return nil
    }
    guard let key = try AdminKeySource.key(arguments) else {
      // Apps use `PETREL_SERVER` for themselves. Only together with a key does the variable apply
      // to this program.
      guard named != nil else { return nil }
      throw UsageError(
        "--server needs an admin key: name its file with --key-file, or set PETREL_ADMIN_KEY or "
          + "PETREL_ADMIN_KEY_FILE; 'petrel keys add-admin-key' creates one on the server")
    }
    return try RemoteAdminAccess(server: server, key: key)
  }

  /// Throws `UsageError` if the default data directory has no store but a server runs on another
  /// directory. The command would add its data to a new store that this server does not know.
  private static func refuseSecondStore(_ arguments: Arguments) throws {
    guard !ServeCommand.isDataDirectoryNamed(arguments) else { return }
    let running = SocketFile.listening(named: ServerConfiguration.socketName).filter(\.isListenedAt)
    guard let first = running.first else { return }
    let others = running.count == 1 ? "" : ", and \(running.count - 1) more run on others"
    throw UsageError(
      "there is no store in '\(ServeCommand.dataDirectory(arguments))', and a server runs on '\(first.directory)'\(others): "
        + "choose a directory with --data, or create a new store here with '--data .petrel'")
  }

  private static func withLocal<Value: Sendable>(
    _ arguments: Arguments, _ work: Work, makesStore: Bool,
    _ body: (any AdminAccess) async throws -> Value
  ) async throws -> Value {
    // The command uses the server's configuration, for example to know in which environments the
    // schema is fixed.
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
    let isServed = try await Store.isServed(at: configuration.storeLocation)
    // In PostgreSQL, the commit informs the servers, and they dispatch the changes of the command.
    let takesServersPlace = work == .withoutServer && configuration.postgreSQL == nil
    if takesServersPlace, isServed {
      throw AdminFailure(
        "another program has the store in '\(directory)' open but does not listen at "
          + "'\(configuration.socketFile.path)'; wait until other commands that change records have ended, or "
          + "name a server with --server and an admin key")
    }
    // In the role of a server, the store prevents a server from starting until the command ends.
    var storeConfiguration = StoreConfiguration(
      of: configuration, role: takesServersPlace ? .server : .tool)
    if work == .besideServer {
      // A command reads each page of the store once or a few times. A small cache is enough, and
      // leaves the memory to the server.
      storeConfiguration.tuning.cacheKilobytes = 16 * 1024
    }
    let store = try await ServeCommand.openStore(of: configuration, with: storeConfiguration)
    if isMissing {
      Output.complain(
        "there was no store here; a new one was created in '\(configuration.socketFile.directory)'")
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
