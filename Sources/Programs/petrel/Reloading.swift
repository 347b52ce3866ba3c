import Configuration
import Dispatch
import Foundation
import JSONCoding
import Logging
import PetrelServer
import Settings
import Synchronization

/// The reloading of the configuration at each SIGHUP.
///
/// If the new configuration is invalid, this object logs the mistakes, and the server keeps the
/// current configuration.
final class Reloading: Sendable {
  /// A function that reads the configuration in the same way as a server that starts.
  typealias Reading =
    @Sendable () throws -> (configuration: ServerConfiguration, sources: ConfigurationSources)

  private let server: Server
  private let log: ServerLog
  private let sources: Mutex<ConfigurationSources>
  private let read: Reading
  /// Dispatch sources are safe on any thread, although their Swift type does not say so.
  private nonisolated(unsafe) let signals: any DispatchSourceSignal

  /// Creates the object; signals are ignored until ``start()``.
  ///
  /// - Parameter sources: The sources of the current configuration.
  init(server: Server, log: ServerLog, sources: ConfigurationSources, read: @escaping Reading) {
    self.server = server
    self.log = log
    self.sources = Mutex(sources)
    self.read = read
    signal(SIGHUP, SIG_IGN)
    signals = DispatchSource.makeSignalSource(
      signal: SIGHUP, queue: DispatchQueue(label: "petrel.reloading"))
  }

  /// Starts to listen for SIGHUP. When the method has returned, each signal reloads the
  /// configuration.
  func start() async {
    signals.setEventHandler { [weak self] in self?.reload() }
    await withCheckedContinuation { isListening in
      signals.setRegistrationHandler { isListening.resume() }
      signals.resume()
    }
  }

  /// Stops listening; later signals have no effect.
  func stop() { signals.cancel() }

  /// Reads and applies the configuration. Then logs the changed keys, the replaced connections to
  /// push services, and the keys that apply only after a restart.
  private func reload() {
    do {
      let (configuration, new) = try read()
      let exchanged = try server.reload(configuration)
      let change = sources.withLock { old in
        defer { old = new }
        return ConfigurationChange(from: old, to: new)
      }
      log.info(
        "the configuration was reloaded",
        [
          "changed": Self.list(change.keys), "exchanged": Self.list(exchanged),
          "needRestart": Self.list(change.keysForRestart),
        ])
      if !change.keysForRestart.isEmpty {
        log.warning(
          "some settings apply only after a restart", ["keys": Self.list(change.keysForRestart)])
      }
    } catch {
      log.error(
        "the new configuration is invalid; the server keeps the current one",
        ["cause": .string((error as? ConfigurationMistakes)?.line ?? "\(error)")])
    }
  }

  private static func list(_ names: [String]) -> JSONValue {
    .string(names.isEmpty ? "nothing" : names.joined(separator: ", "))
  }
}
