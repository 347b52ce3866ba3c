import CloudKitModel
import Cryptography
import Storage
import StoreModel
import Synchronization
import WebServices

/// A cache of the API tokens and server-to-server keys of containers.
///
/// An entry has the tokens and keys of one container's environment, and is used for ``trust``
/// seconds. After this time at the latest, the server uses what other processes have registered or
/// revoked.
final class CredentialDirectory: Sendable {
  /// Seconds for which an entry is used.
  static let trust = 5.0
  /// The most entries: pairs of a container and an environment. At the limit the cache is emptied.
  private static let capacity = 1000

  /// The credentials of one container's environment.
  struct Entry: Sendable {
    /// The API tokens by their hashes, including revoked ones.
    var apiTokens: [[UInt8]: APIToken]
    /// The server-to-server keys by their IDs, including revoked ones.
    var serverKeys: [String: SigningKey]
    /// The time when the server read the entry from the store.
    fileprivate var read: Timestamp

    /// Whether web apps and anonymous callers must send an API token: the environment has at least
    /// one. Revoked tokens count too.
    var asksForAPIToken: Bool { !apiTokens.isEmpty }
  }

  /// A server-to-server key with its parsed public key.
  struct SigningKey: Sendable {
    var key: ServerKey
    var publicKey: ES256PublicKey
  }

  /// The container and the environment by which the cache finds an entry.
  private struct Place: Hashable {
    var container: String
    var environment: ContainerEnvironment
  }

  private let store: CredentialService
  private let clock: @Sendable () -> Timestamp
  /// The entries. The lock is not held while the store is read.
  private let known = Mutex<[Place: Entry]>([:])

  init(store: CredentialService, clock: @escaping @Sendable () -> Timestamp) {
    self.store = store
    self.clock = clock
  }

  func entry(for path: ServicePath) async throws -> Entry {
    let place = Place(container: path.container, environment: path.environment)
    let now = clock()
    // An entry is not used if its read time is in the future: then the clock was set back.
    if let entry = known.withLock({ $0[place] }),
      (0..<Self.trust).contains(now.seconds - entry.read.seconds)
    {
      return entry
    }
    let credentials = try await store.programCredentials(
      container: place.container, environment: place.environment)
    let entry = Entry(
      apiTokens: Dictionary(
        credentials.apiTokens.map { ($0.hash, $0) }, uniquingKeysWith: { first, _ in first }),
      serverKeys: Dictionary(
        try credentials.serverKeys.map {
          ($0.keyID, SigningKey(key: $0, publicKey: try ES256PublicKey(pem: $0.publicKey)))
        }, uniquingKeysWith: { first, _ in first }),
      read: now)
    known.withLock { known in
      if known.count >= Self.capacity { known.removeAll() }
      known[place] = entry
    }
    return entry
  }
}
