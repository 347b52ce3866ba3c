import CloudKitModel
import Storage
import StoreModel
import WebServices

/// A valid signature of a request that changes something. It is good for one change.
struct SignatureUse: Sendable, Hashable {
  let keyID: String
  /// The number *r* of the ECDSA signature (*r*, *s*), 32 bytes.
  ///
  /// The store identifies the signature by *r* alone. Anyone can compute a second valid signature
  /// (*r*, *n* − *s*) from the first one without the key; *n* is the order of the curve P-256.
  let mark: [UInt8]
  /// The time from which every server refuses the request because of its date. The store may then
  /// delete the signature.
  let expires: Timestamp

  /// The identifier of the request in the store. The store answers a repeated request with the
  /// answer to the first one.
  var requestID: String { "signature-" + mark.hexadecimal }

  /// Marks the signature as used in the store. Call this for a request whose answer the store does
  /// not keep, so that the request is not executed twice.
  ///
  /// - Throws: `TRY_AGAIN_LATER` if the signature was used before. The client can sign the request
  ///   again with another date.
  func spend(in store: CredentialService) async throws {
    guard try await store.takeSignature(mark, ofKey: keyID, until: expires) else {
      throw ServiceError(
        .tryAgainLater,
        "the signature was used before; sign the request again with another date",
        retryAfter: 1)
    }
  }
}
