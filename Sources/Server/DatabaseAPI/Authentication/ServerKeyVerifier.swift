import CloudKitModel
import Configuration
import Cryptography
import HTTPService
import WebServices

/// The check of signatures of server-to-server keys.
///
/// The server accepts a signed request only inside its window: the date of the request and the
/// server's clock may differ by at most ``window`` seconds.
///
/// A signature is good for one change. The store keeps the signatures of requests that change
/// something, across restarts and for all servers, until no server accepts the date any more. A
/// client may repeat a request that only reads within the window, for example after it lost the
/// answer.
struct ServerKeyVerifier: Sendable {
  /// The largest difference in seconds between the date of a request and the server's clock. The
  /// configuration sets it; its default is 600.
  private let window: Double
  private let clock: @Sendable () -> Timestamp
  /// The record of clock changes. After such a change it refuses dates of which the store may have
  /// deleted signatures.
  private let forgotten: ForgottenSignatures

  init(
    window: Double, forgotten: ForgottenSignatures, clock: @escaping @Sendable () -> Timestamp
  ) {
    self.window = window
    self.forgotten = forgotten
    self.clock = clock
  }

  /// Returns the key that a signed request names, if its date is inside the window.
  ///
  /// - Throws: `AUTHENTICATION_FAILED` with a reason that names the mistake: the key or the date.
  func key(
    of signed: SignedRequest, for path: ServicePath, keys: CredentialDirectory.Entry
  ) throws(ServiceError) -> CredentialDirectory.SigningKey {
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
    return entry
  }

  /// Returns the caller of a signed request, with the signature if the request changes something.
  ///
  /// The date is checked again, because the body may have taken long. After the window, the store
  /// may have deleted the signature.
  ///
  /// - Throws: `AUTHENTICATION_FAILED` with a reason that names the mistake: the key, the date or
  ///   the signature.
  func credentials(
    of signed: SignedRequest, _ request: HTTPRequest, for path: ServicePath, onlyReads: Bool,
    keys: CredentialDirectory.Entry
  ) throws(ServiceError) -> Credentials {
    let entry = try key(of: signed, for: path, keys: keys)
    guard signed.isValid(for: request, key: entry.publicKey) else {
      throw Self.failure(
        "the signature is not valid for this key and the message "
          + "'\(signed.expectedMessage(for: request))'")
    }
    var credentials = Credentials(
      caller: .serverKey(keyID: entry.key.keyID, userRecordName: entry.key.userRecordName))
    if onlyReads { return credentials }
    let expires = signed.date.advanced(bySeconds: ServerConfiguration.maximumSignatureWindow)
    guard signed.date > forgotten.end(at: clock()) else {
      throw Self.failure(
        "the server's clock was set back, so it no longer knows whether a signature of "
          + "\(signed.dateText) was used before; sign the request again with the present date")
    }
    credentials.signature = SignatureUse(
      keyID: entry.key.keyID, mark: Array(signed.signature.raw.prefix(32)), expires: expires)
    return credentials
  }

  private static func failure(_ reason: String) -> ServiceError {
    ServiceError(.authenticationFailed, reason)
  }
}
