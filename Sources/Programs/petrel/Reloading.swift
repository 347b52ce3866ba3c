import Configuration
import Dispatch
import Foundation
import JSONCoding
import Logging
import PetrelServer
import Settings
import Synchronization

/// Reads the configuration anew whenever SIGHUP comes.
final class Reloading: Sendable {
  typealias Reading =
    @Sendable () throws -> (configuration: ServerConfiguration, sources: ConfigurationSources)

  private let server: Server
  private let log: ServerLog
  private let sources: Mutex<ConfigurationSources>
  private let read: Reading
  /// Dispatch sources may be used from any thread; their Swift type does not say so.
  private nonisolated(unsafe) let signals: any DispatchSourceSignal

  /// - Parameters:
  ///   - sources: what the server was started with.
  ///   - read: what it would be started with now.
  init(server: Server, log: ServerLog, sources: ConfigurationSources, read: @escaping Reading) {
    self.server = server
    self.log = log
    self.sources = Mutex(sources)
    self.read = read
    signal(SIGHUP, SIG_IGN)
    signals = DispatchSource.makeSignalSource(
      signal: SIGHUP, queue: DispatchQueue(label: "petrel.reloading"))
  }

  /// Listens from when this returns.
  func start() async {
    signals.setEventHandler { [weak self] in self?.reload() }
    await withCheckedContinuation { isListening in
      signals.setRegistrationHandler { isListening.resume() }
      signals.resume()
    }
  }

  func stop() { signals.cancel() }

  private func reload() {
    do {
      let (configuration, new) = try read()
      let exchanged = try server.reload(configuration)
      let change = sources.withLock { old in
        defer { old = new }
        return ConfigurationChange(from: old, to: new)
      }
      log.info(
        "the configuration was read anew",
        [
          "changed": Self.list(change.keys), "exchanged": Self.list(exchanged),
          "needRestart": Self.list(change.keysForRestart),
        ])
      if !change.keysForRestart.isEmpty {
        log.warning(
          "some keys count only after a restart", ["keys": Self.list(change.keysForRestart)])
      }
    } catch {
      log.error(
        "the configuration cannot be used; the server goes on with the one before",
        ["cause": .string((error as? ConfigurationMistakes)?.line ?? "\(error)")])
    }
  }

  private static func list(_ names: [String]) -> JSONValue {
    .string(names.isEmpty ? "nothing" : names.joined(separator: ", "))
  }
}
