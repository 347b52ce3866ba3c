import CloudKitModel
import Cryptography
import StoreModel
import Synchronization
import WebServices

/// The API tokens and server-to-server keys of containers, as the store had them lately.
///
/// What was registered or revoked beside the server is known after ``trust`` seconds.
final class CredentialDirectory: Sendable {
  /// How long an answer of the store is relied on, in seconds.
  static let trust = 5.0
  /// Containers' environments that are remembered.
  private static let capacity = 1000

  /// What one container's environment has.
  struct Entry: Sendable {
    /// By their hashes, those that are revoked too.
    var apiTokens: [[UInt8]: APIToken]
    /// By their IDs, those that are revoked too.
    var serverKeys: [String: SigningKey]
    fileprivate var read: Timestamp

    /// Whether web apps and anonymous callers have to bring an API token.
    var asksForAPIToken: Bool { !apiTokens.isEmpty }
  }

  /// A server-to-server key that is ready for checking signatures.
  struct SigningKey: Sendable {
    var key: ServerKey
    var publicKey: ES256PublicKey
  }

  private struct Place: Hashable {
    var container: String
    var environment: ContainerEnvironment
  }

  private let store: any CredentialReading
  private let clock: @Sendable () -> Timestamp
  private let known = Mutex<[Place: Entry]>([:])

  init(store: any CredentialReading, clock: @escaping @Sendable () -> Timestamp) {
    self.store = store
    self.clock = clock
  }

  func entry(for path: ServicePath) async throws -> Entry {
    let place = Place(container: path.container, environment: path.environment)
    let now = clock()
    // What was read in what is now the future is not relied on.
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
