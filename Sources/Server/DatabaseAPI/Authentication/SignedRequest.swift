import CloudKitModel
import Cryptography
import Foundation
import HTTPService
import WebServices

/// What the header fields of a request that is signed with a server-to-server key say.
struct SignedRequest: Sendable {
  private static let keyIDHeader = "X-Apple-CloudKit-Request-KeyID"
  private static let dateHeader = "X-Apple-CloudKit-Request-ISO8601Date"
  private static let signatureHeader = "X-Apple-CloudKit-Request-SignatureV1"

  var keyID: String
  /// As sent, for it is signed byte for byte.
  var dateText: String
  var date: Timestamp
  var signature: ES256Signature

  /// Reads the three header fields; nil when the request has none of them.
  ///
  /// - Throws: `AUTHENTICATION_FAILED` naming the field that is missing or cannot be read.
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

  private static func present(
    _ value: String?, _ name: String
  ) throws(ServiceError) -> String {
    guard let value, !value.isEmpty else {
      throw failure("\(name): is missing; a signed request has all three of its header fields")
    }
    return value
  }

  private static func failure(_ reason: String) -> ServiceError {
    ServiceError(.authenticationFailed, reason)
  }

  private static func moment(_ text: String) -> Timestamp? {
    guard text.utf8.count <= 40 else { return nil }
    let date =
      // Either format counts.
      (try? Date(text, strategy: .iso8601))
      // Either format counts.
      ?? (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    return date.map { Timestamp($0) }
  }

  /// Whether the key's private half has signed this request.
  ///
  /// The message is the date, the hash of the body and the path, without the query; that some
  /// clients sign the query as well does no harm. For an absent body some put an empty text in the
  /// place of the hash, others the hash of no bytes.
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

  /// The message as the server makes it, for a client that signs another.
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
