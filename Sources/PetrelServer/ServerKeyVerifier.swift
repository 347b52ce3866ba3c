import CloudKitModel
import Cryptography
import HTTPService
import Storage
import Synchronization
import WebServices

/// Checks the signatures of server-to-server requests.
///
/// A signature is taken once. All those within the window are remembered in memory, as far as
/// ``SeenSignatures`` has room; those of requests that change something stand in the store as well,
/// so that such a request cannot come twice across a restart either.
final class ServerKeyVerifier: Sendable {
  /// Signatures of one key that are remembered.
  private static let capacity = 250_000

  /// How far the date of a request may be from the server's, in seconds.
  private let window: Double
  private let store: any RecordStore
  private let clock: @Sendable () -> Timestamp
  private let seen = Mutex<[String: SeenSignatures]>([:])

  init(window: Double, store: any RecordStore, clock: @escaping @Sendable () -> Timestamp) {
    self.window = window
    self.store = store
    self.clock = clock
  }

  /// The caller that a signed request comes from.
  ///
  /// - Throws: `AUTHENTICATION_FAILED` saying what is wrong with the key, the date or the signature.
  func caller(
    of signed: SignedRequest, _ request: HTTPRequest, for path: ServicePath,
    keys: CredentialDirectory.Entry
  ) async throws -> Caller {
    guard let entry = keys.serverKeys[signed.keyID] else {
      throw Self.failure(
        "the key ID '\(signed.keyID.prefix(80))' is not known for \(path.container) "
          + "(\(path.environment.rawValue)); register its public key with "
          + "'petrel keys add-server-key'")
    }
    if let revoked = entry.key.revoked {
      throw Self.failure(
        "the server-to-server key '\(entry.key.name)' was revoked at \(revoked.iso8601)")
    }
    let now = clock()
    guard abs(now.seconds - signed.date.seconds) <= window else {
      throw Self.failure(
        "the request's date \(signed.dateText) is more than \(Int(window)) seconds from the "
          + "server's, \(now.iso8601); set the clock")
    }
    guard signed.isValid(for: request, key: entry.publicKey) else {
      throw Self.failure(
        "the signature is not valid for this key and the message "
          + "'\(signed.expectedMessage(for: request))'")
    }
    try await take(signed, keyID: entry.key.keyID, changes: !path.onlyReads, now: now)
    return .serverKey(keyID: entry.key.keyID, userRecordName: entry.key.userRecordName)
  }

  /// Marks a valid signature as seen.
  private func take(
    _ signed: SignedRequest, keyID: String, changes: Bool, now: Timestamp
  ) async throws {
    let mark = signed.signature.raw.prefix(32)
    let verdict = seen.withLock {
      $0[keyID, default: SeenSignatures(capacity: Self.capacity)].insert(
        mark, date: signed.date, now: now, window: window)
    }
    switch verdict {
    case .new: break
    case .seen: throw Self.replayed
    case .forgotten:
      throw Self.failure(
        "the request's date \(signed.dateText) is older than the signatures that the server can "
          + "remember while so many come; set the clock, and sign each request when it is sent")
    }
    guard changes else { return }
    let isNew = try await store.takeSignature(
      Array(mark), ofKey: keyID,
      until: signed.date.advanced(bySeconds: ServerConfiguration.maximumSignatureWindow))
    guard isNew else { throw Self.replayed }
  }

  private static let replayed = failure(
    "the signature was used before; sign each request anew, the same request again with another "
      + "date")

  private static func failure(_ reason: String) -> ServiceError {
    ServiceError(.authenticationFailed, reason)
  }
}
