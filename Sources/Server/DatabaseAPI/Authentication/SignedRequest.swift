import CloudKitModel
import Cryptography
import Foundation
import HTTPService
import WebServices

/// The header fields of a request that is signed with a server-to-server key, parsed.
///
/// Apple's reference defines them: the key ID, an ISO 8601 date, and the signature (ECDSA over
/// P-256 with SHA-256, in DER and base64).
struct SignedRequest: Sendable {
  private static let keyIDHeader = "X-Apple-CloudKit-Request-KeyID"
  private static let dateHeader = "X-Apple-CloudKit-Request-ISO8601Date"
  private static let signatureHeader = "X-Apple-CloudKit-Request-SignatureV1"

  /// The ID of the key, in lower-case hexadecimal digits.
  var keyID: String
  /// The date as the client sent it. The signature covers these bytes.
  var dateText: String
  var date: Timestamp
  var signature: ES256Signature

  /// Parses the three header fields; nil if the request has none of them.
  ///
  /// - Throws: `AUTHENTICATION_FAILED` with a reason that names the missing or malformed field.
  init?(_ request: HTTPRequest) throws(ServiceError) {
    let keyID = request.header(Self.keyIDHeader)
    let date = request.header(Self.dateHeader)
    let signature = request.header(Self.signatureHeader)
    guard keyID != nil || date != nil || signature != nil else { return nil }
    self.keyID = try Self.present(keyID, Self.keyIDHeader).lowercased()
    dateText = try Self.present(date, Self.dateHeader)
    guard let moment = Self.moment(dateText) else {
      throw Self.failure(
        "\(Self.dateHeader): '\(dateText.prefix(80))' is not a date such as 2016-01-25T22:15:43Z")
    }
    self.date = moment
    let text = try Self.present(signature, Self.signatureHeader)
    // The caller gets an error that says what is expected.
    guard let bytes = Data(base64Encoded: text), let read = try? ES256Signature(der: bytes) else {
      throw Self.failure(
        "\(Self.signatureHeader): is not an ECDSA signature over P-256 in DER form and base64")
    }
    self.signature = read
  }

  /// Returns the value of a header field. Throws `AUTHENTICATION_FAILED` if it is missing or empty.
  private static func present(
    _ value: String?, _ name: String
  ) throws(ServiceError) -> String {
    guard let value, !value.isEmpty else {
      throw failure("\(name): is missing; a signed request needs all three header fields")
    }
    return value
  }

  private static func failure(_ reason: String) -> ServiceError {
    ServiceError(.authenticationFailed, reason)
  }

  /// Returns the time of an ISO 8601 date, with or without a fraction of a second; nil for any
  /// other text, and for a text of more than 40 bytes.
  private static func moment(_ text: String) -> Timestamp? {
    guard text.utf8.count <= 40 else { return nil }
    let date =
      // One of the two formats is enough.
      (try? Date(text, strategy: .iso8601))
      // One of the two formats is enough.
      ?? (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    return date.map { Timestamp($0) }
  }

  /// Whether the key's private half has signed this request.
  ///
  /// The signed message is the date, the hash of the body and the path. Clients differ, so several
  /// messages are accepted: the path escaped or not, and with or without the query. For an empty
  /// body, some clients sign an empty text in place of the hash, and others sign the hash of no
  /// bytes.
  func isValid(for request: HTTPRequest, key: ES256PublicKey) -> Bool {
    var hashes = [Self.hash(request.body)]
    if request.body.isEmpty { hashes.append("") }
    var paths = [request.rawPath]
    if request.path != request.rawPath { paths.append(request.path) }
    if let query = request.rawQuery { paths.append(request.rawPath + "?" + query) }
    return paths.contains { path in
      hashes.contains { hash in
        key.isValid(signature: signature, for: message(bodyHash: hash, path: path).utf8)
      }
    }
  }

  /// Returns the message that the server expects. An error shows this message to a client that has
  /// signed another message.
  func expectedMessage(for request: HTTPRequest) -> String {
    message(bodyHash: Self.hash(request.body), path: request.rawPath)
  }

  private func message(bodyHash: String, path: String) -> String {
    "\(dateText):\(bodyHash):\(path)"
  }

  private static func hash(_ body: Data) -> String {
    Data(SHA256.hash(body)).base64EncodedString()
  }
}
