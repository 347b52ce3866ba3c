import CloudKitModel
import Configuration
import Cryptography
import HTTPService
import WebServices

/// Checks the signatures of server-to-server requests.
///
/// A signature is good for one change: the store remembers those of requests that change something, across restarts and for
/// all servers, until the date of the request is out of every window. A request that only reads may be sent again within the
/// window, as a client does that lost the answer.
struct ServerKeyVerifier: Sendable {
  /// How far the date of a request may be from the server's, in seconds.
  private let window: Double
  private let clock: @Sendable () -> Timestamp
  private let forgotten: ForgottenSignatures

  init(
    window: Double, forgotten: ForgottenSignatures, clock: @escaping @Sendable () -> Timestamp
  ) {
    self.window = window
    self.forgotten = forgotten
    self.clock = clock
  }

  /// The caller that a signed request comes from, with the signature where the request changes something.
  ///
  /// - Throws: `AUTHENTICATION_FAILED` saying what is wrong with the key, the date or the signature.
  func credentials(
    of signed: SignedRequest, _ request: HTTPRequest, for path: ServicePath, onlyReads: Bool,
    keys: CredentialDirectory.Entry
  ) throws(ServiceError) -> Credentials {
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
    var credentials = Credentials(
      caller: .serverKey(keyID: entry.key.keyID, userRecordName: entry.key.userRecordName))
    if onlyReads { return credentials }
    let expires = signed.date.advanced(bySeconds: ServerConfiguration.maximumSignatureWindow)
    guard signed.date > forgotten.end(at: now) else {
      throw Self.failure(
        "the server's clock was set back, and it may have forgotten signatures of the request's date \(signed.dateText); "
          + "sign the request when it is sent")
    }
    credentials.signature = SignatureUse(
      keyID: entry.key.keyID, mark: Array(signed.signature.raw.prefix(32)), expires: expires)
    return credentials
  }

  private static func failure(_ reason: String) -> ServiceError {
    ServiceError(.authenticationFailed, reason)
  }
}
