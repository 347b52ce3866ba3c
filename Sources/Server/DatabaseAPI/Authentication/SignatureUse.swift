import CloudKitModel
import StoreModel
import WebServices

/// A valid signature of a request that changes something. It is good for one change.
struct SignatureUse: Sendable, Hashable {
  /// The ID of the server-to-server key.
  let keyID: String
  /// The number r of the signature (r, s), 32 bytes.
  ///
  /// It alone identifies the signature: anyone can make the valid signature (r, n − s) from (r, s)
  /// without the key.
  let mark: [UInt8]
  /// The time when the date of the request is outside of every server's window. The store may then
  /// forget the signature.
  let expires: Timestamp

  /// The identifier of the request in the store, which returns the first answer to a repeated
  /// request.
  var requestID: String { "signature-" + mark.hexadecimal }

  /// Uses the signature up. It is for a request that must not be executed twice and whose answer
  /// the store does not keep.
  ///
  /// - Throws: `TRY_AGAIN_LATER` if the signature was used before. The client can sign the request
  ///   again with another date.
  func spend(in store: any SignatureStore) async throws {
    guard try await store.takeSignature(mark, ofKey: keyID, until: expires) else {
      throw ServiceError(
        .tryAgainLater,
        "the signature was used before; sign the request again with another date",
        retryAfter: 1)
    }
  }
}
